package scheduler

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/carillon-io/carillon/instant"
	"github.com/carillon-io/carillon/job"
	"github.com/carillon-io/carillon/scheduler/core"
	"github.com/carillon-io/carillon/testkit"
)

// endingStore ends a run in the moment between the lister's read of the live runs and its read of the
// history.
type endingStore struct {
	*memStore
	end func()
}

// Scan implements Store.
func (s *endingStore) Scan(low, high []byte, fn func(key, value []byte) (bool, error)) error {
	err := s.memStore.Scan(low, high, fn)
	if job.Kind(low[0]) == job.KindRun && s.end != nil {
		s.end()
		s.end = nil
	}
	return err
}

// TestRangeOfDaysIsListed: a list from an instant on has the range of skipped ticks that contains it, whenever that began, and has
// it once, also by pages.
func TestRangeOfDaysIsListed(t *testing.T) {
	s := newSim(t, time.Date(2026, 1, 5, 23, 0, 0, 0, time.UTC), Settings{HistoryDays: 7, CompletedRetention: -1})
	s.putIn("a", "@every 1h", "")
	s.propose(&core.Pause{Tenant: "default", Name: "a", Hash: s.hash("a")})
	s.advance(50 * time.Hour)
	s.propose(&core.Pause{Tenant: "default", Name: "a", Hash: s.hash("a"), Resume: true})
	s.advance(3 * time.Hour)
	q := RunQuery{Tenant: "default", Job: "a", From: instant.Of(s.now.Add(-20 * time.Hour)), Limit: 2}
	var got []string
	for {
		page, err := s.engine.Runs(context.Background(), q)
		if err != nil {
			t.Fatal(err)
		}
		for _, r := range page.Runs {
			got = append(got, r.ID.At.Time().UTC().Format("02T15:04 ")+r.Status.String())
		}
		if q.After = page.Next; q.After.Job == 0 {
			break
		}
	}
	if want := "08T04:00 succeeded, 08T03:00 succeeded, 08T02:00 succeeded, 08T01:00 succeeded, 08T00:00 succeeded, 06T00:00 skipped"; strings.Join(got, ", ") != want {
		t.Errorf("listed %s, want %s", strings.Join(got, ", "), want)
	}
}

// TestRunThatEndsMeanwhileIsListedOnce: a run is in the list once, as what it is at the end.
func TestRunThatEndsMeanwhileIsListedOnce(t *testing.T) {
	s := newSim(t, time.Date(2026, 1, 5, 12, 0, 0, 0, time.UTC), Settings{})
	store := &endingStore{memStore: s.store}
	s.engine.opts.Store = store
	s.target["a"] = "hang"
	def := job.Defaults()
	def.Tenant, def.Name, def.Target = "default", "a", job.Target{Kind: job.TargetNATS, Subject: "out"}
	def.Schedule, def.Overlap = "@every 1s", job.OverlapAllow
	s.propose(must(s.engine.prepare(&def)))
	s.advance(3 * time.Second)
	store.end = func() { s.answer("a", ""); s.answer("a", "") }

	page, err := s.engine.Runs(context.Background(), RunQuery{Tenant: "default", Job: "a", Limit: 10})
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, r := range page.Runs {
		got = append(got, clock(r.ID.At)+" "+r.Status.String())
	}
	want := []string{"12:00:03.000 running", "12:00:02.000 succeeded", "12:00:01.000 succeeded"}
	if len(got) != len(want) {
		t.Fatalf("listed %v, want %v", got, want)
	}
	for i := range want {
		if got[i] != want[i] {
			t.Errorf("listed %v, want %v", got, want)
		}
	}
}

// TestRunPages: pages of any size together list every run once, newest first, live and final alike.
func TestRunPages(t *testing.T) {
	s := newSim(t, time.Date(2026, 1, 5, 23, 59, 50, 0, time.UTC), Settings{})
	def := job.Defaults()
	def.Tenant, def.Name, def.Target = "default", "a", job.Target{Kind: job.TargetNATS, Subject: "out"}
	def.Schedule, def.Overlap = "@every 1s", job.OverlapAllow
	s.propose(must(s.engine.prepare(&def)))
	s.advance(18 * time.Second) // over midnight: two buckets of the history
	s.target["a"] = "hang"
	s.advance(3 * time.Second)
	for limit := 1; limit <= 25; limit++ {
		q := RunQuery{Tenant: "default", Job: "a", Limit: limit}
		var last job.RunID
		n := 0
		for more := true; more; {
			page, err := s.engine.Runs(context.Background(), q)
			if err != nil {
				t.Fatal(err)
			}
			for _, r := range page.Runs {
				if n++; n > 1 && !newer(last, r.ID) {
					t.Fatalf("limit %d: %s comes after %s", limit, r.ID, last)
				}
				last = r.ID
			}
			q.After, more = page.Next, page.Next != (job.RunID{})
		}
		if n != 21 {
			t.Errorf("limit %d: %d runs, want 21", limit, n)
		}
	}
}

// TestManyLiveRuns: pages list all live runs of a job, also when they are more than one page looks at.
func TestManyLiveRuns(t *testing.T) {
	testkit.NotUnderRace(t, drivenByHand)
	s := newBackfillSim(t, "* * * * * *")
	s.target["a"] = "hang"
	const hour, hours = 3600_000, 3
	q := s.backfillRequest(BackfillMax)
	for range hours {
		s.call(func() { _, _ = s.engine.Backfill(context.Background(), q) })
		q.From, q.To = q.From-hour, q.To-hour
	}
	count := func(q RunQuery) (n int) {
		q.Tenant, q.Job, q.Limit = "default", "a", PageMax
		for {
			page, err := s.engine.Runs(context.Background(), q)
			if err != nil {
				t.Fatal(err)
			}
			n += len(page.Runs)
			if q.After = page.Next; q.After.Job == 0 {
				return n
			}
		}
	}
	if n := count(RunQuery{}); n != hours*3600 || n <= runScanMax {
		t.Errorf("%d runs are listed, want %d", n, hours*3600)
	}
	if n := count(RunQuery{From: q.From + hour, To: q.To + hour}); n != 3600 {
		t.Errorf("%d runs of the oldest hour are listed, want 3600", n)
	}
}

// TestLatenessOfARunningRun: a run that is with its target shows by how much it was launched late.
func TestLatenessOfARunningRun(t *testing.T) {
	s := &story{sim: newSim(t, time.Date(2026, 1, 5, 12, 0, 0, 0, time.UTC), Settings{})}
	s.target["a"] = "hang"
	s.putIn("a", "@every 1m", "")
	s.now = s.now.Add(90 * time.Second)
	s.crash()
	s.advance(time.Second)
	page, err := s.engine.Runs(context.Background(), RunQuery{Tenant: "default", Job: "a", Limit: 10})
	if err != nil || len(page.Runs) == 0 {
		t.Fatalf("%d runs, %v", len(page.Runs), err)
	}
	r := page.Runs[0]
	if want := r.LaunchedAt.Time().Sub(r.Due.Time()); r.Status != job.StatusRunning || want < 20*time.Second || r.Lateness != want {
		t.Errorf("the run %s: launched %s, lateness %s, want %s", r.Status, r.LaunchedAt, r.Lateness, want)
	}
}
