package scheduler

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/carillon-io/carillon/job"
	"github.com/carillon-io/carillon/scheduler/core"
)

// checkLists asks for some random lists, each by the index and by a walk over all names that reads every job: both are
// the same at every moment of a story.
func (s *story) checkLists() {
	for range 4 {
		q := randomList(s.rng)
		got, want := s.listed(q, false), s.listed(q, true)
		if !slices.Equal(got, want) {
			s.t.Errorf("list %+v: got %v, by a walk over all jobs %v", q, got, want)
		}
	}
}

// randomList draws a query with a few filters.
func randomList(rng *rand.Rand) ListQuery {
	q := ListQuery{Tenant: fmt.Sprintf("tenant-%d", rng.IntN(3)), Limit: 1 + rng.IntN(3)}
	q.Status = []string{"", "", "active", "paused", "completed", "failed"}[rng.IntN(6)]
	q.LastFailed = rng.IntN(4) == 0
	q.Contains = []string{"", "", "JOB-", "-1/job", "5"}[rng.IntN(5)]
	q.Prefix = []string{"", "", "tenant-1", "tenant-2/job-5", "x"}[rng.IntN(5)]
	q.Target = []string{"", "", "x", "y"}[rng.IntN(4)]
	for _, key := range []string{"team", "zone"} {
		if n := rng.IntN(6); n < 3 {
			q.Labels = append(q.Labels, job.Pair{Key: key, Value: fmt.Sprint(n)})
		}
	}
	return q
}

// listed returns the names of all jobs of a list, page by page. With walk it uses no index and has no bounds; otherwise
// the bounds are those of the engine, as low as they may be set.
func (s *story) listed(q ListQuery, walk bool) (names []string) {
	for range 100 {
		if q.Plan = nil; walk {
			q.Plan = &ListPlan{prefix: job.AppendNameKey(nil, q.Tenant, ""), names: math.MaxInt, reads: math.MaxInt}
		}
		page, err := s.engine.List(s.t.Context(), q)
		if err != nil {
			s.t.Errorf("list %+v: %v", q, err)
			return nil
		}
		for i := range page.Jobs {
			names = append(names, page.Jobs[i].Def.Name+" "+page.Jobs[i].Status)
		}
		if q.After = page.Next; q.After == "" {
			return names
		}
	}
	s.t.Errorf("list %+v does not end", q)
	return nil
}

// rareJobs is a sim with many jobs of which few are paused, failed last, or have a rare label.
func rareJobs(t *testing.T, jobs int) *story {
	s := &story{sim: newSim(t, time.Date(2026, 1, 5, 12, 0, 0, 0, time.UTC), Settings{})}
	for i := range jobs {
		d := job.Defaults()
		d.Tenant, d.Name, d.Schedule = "default", fmt.Sprintf("job-%05d", i), "@every 1h"
		d.Target = job.Target{Kind: job.TargetNATS, Subject: "x"}
		d.Labels = []job.Pair{{Key: "team", Value: "all"}}
		if i%1000 == 999 {
			d.Paused, d.Labels = true, append(d.Labels, job.Pair{Key: "vip", Value: "yes"})
		}
		p, err := s.engine.prepare(&d)
		if err != nil {
			t.Fatal(err)
		}
		s.proposeOnly(p)
	}
	return s
}

// TestRareJobsAreFoundAtOnce: the few jobs of 5,000 with a label or a status are on the first page, though a page may read
// far fewer jobs.
func TestRareJobsAreFoundAtOnce(t *testing.T) {
	s := rareJobs(t, 5000)
	s.engine.lists = listBounds{reads: 20, names: 100, traits: 100, sort: 20}
	vip := job.Pair{Key: "vip", Value: "yes"}
	for name, q := range map[string]ListQuery{
		"label":           {Labels: []job.Pair{vip}},
		"two labels":      {Labels: []job.Pair{{Key: "team", Value: "all"}, vip}},
		"status":          {Status: "paused"},
		"label and state": {Status: "paused", Labels: []job.Pair{{Key: "team", Value: "all"}}},
	} {
		q.Tenant, q.Limit = "default", 100
		page, err := s.engine.List(t.Context(), q)
		if err != nil || len(page.Jobs) != 5 || page.Next != "" {
			t.Errorf("by %s: %d jobs, then %q (%v), want all 5 at once", name, len(page.Jobs), page.Next, err)
		}
	}
}

// TestEarlierStoresGetAnIndex: a store of an earlier release has jobs and no index. Lists walk until there is one; it is
// built between steps, goes on after a crash where it was, and is right although jobs change meanwhile.
func TestEarlierStoresGetAnIndex(t *testing.T) {
	eachSeed(t, func(t *testing.T, seed uint64) {
		s := &story{
			sim: newSim(t, time.Date(2026, 1, 5, 12, 0, 0, 0, time.UTC), Settings{CompletedRetention: 20 * time.Second}),
			rng: rand.New(rand.NewPCG(seed, 7)), final: map[string][]byte{}, ended: map[job.RunID]bool{},
		}
		reads := byte(job.RowsVersionUnmarked)
		s.opts.RowsMax = func(map[string]byte) (byte, string) { return reads, "node-b" }
		s.crash()
		for range 10 {
			s.act()
		}
		for n := range 40 {
			d := s.randomDefinition(fmt.Sprintf("tenant-%d/job-x%d", n%3, n))
			d.Schedule, d.MaxRuns = "@every 1h", 0
			s.putAny(d)
		}
		if s.engine.core.HasIndex() {
			t.Fatal("there is an index, which node-b cannot read")
		}
		reads = job.RowsVersion
		for n := 0; n < 60 && !s.isIndexed(); n++ {
			s.engine.core.Limit(core.Limits{IndexRows: 1 + s.rng.IntN(5)})
			s.act()
			s.check()
			if t.Failed() {
				return
			}
		}
		if s.advance(time.Second); !s.isIndexed() {
			t.Error("the index is not complete after a second")
		}
		s.check()
	})
}

// isIndexed reports whether lists of the story may use the index.
func (s *story) isIndexed() bool {
	ok, err := s.engine.isIndexed()
	if err != nil {
		s.t.Error(err)
	}
	return ok
}

// TestListFilters: each filter of a list selects what it says, with and without the index.
func TestListFilters(t *testing.T) {
	s := &story{sim: newSim(t, time.Date(2026, 1, 5, 12, 0, 0, 0, time.UTC), Settings{})}
	put := func(name string, target job.Target, labels ...job.Pair) {
		d := job.Defaults()
		d.Tenant, d.Name, d.Schedule, d.Target, d.Labels, d.Retry.MaxAttempts = "default", name, "@every 1h", target, labels, 1
		s.putAny(&d)
	}
	red := job.Pair{Key: "team", Value: "red"}
	put("Daily-Invoice", job.Target{Kind: job.TargetHTTP, URL: "https://Hooks.example.com/secret-path?token=x"}, red)
	put("daily-report", job.Target{Kind: job.TargetNATS, Subject: "reports.run"}, job.Pair{Key: "team", Value: "blue"})
	put("weekly-invoice", job.Target{Kind: job.TargetNATS, Subject: "secret-path.run"}, red)
	s.target["weekly-invoice"] = "boom"
	s.propose(&core.Trigger{Tenant: "default", Name: "weekly-invoice", Hash: s.hash("weekly-invoice")})
	s.advance(time.Second)
	for _, c := range []struct {
		q    ListQuery
		want string
	}{
		{ListQuery{}, "[Daily-Invoice daily-report weekly-invoice]"},
		{ListQuery{Contains: "INVOICE"}, "[Daily-Invoice weekly-invoice]"},
		{ListQuery{Contains: "invoice", Prefix: "week"}, "[weekly-invoice]"},
		{ListQuery{Target: "hooks.EXAMPLE.com"}, "[Daily-Invoice]"},
		{ListQuery{Target: "secret-path"}, "[weekly-invoice]"},
		{ListQuery{Target: "Reports"}, "[]"},
		{ListQuery{LastFailed: true}, "[weekly-invoice]"},
		{ListQuery{LastFailed: true, Contains: "daily"}, "[]"},
		{ListQuery{Labels: []job.Pair{red}}, "[Daily-Invoice weekly-invoice]"},
		{ListQuery{Labels: []job.Pair{red}, Target: "run"}, "[weekly-invoice]"},
		{ListQuery{Labels: []job.Pair{red}, LastFailed: true}, "[weekly-invoice]"},
		{ListQuery{Tenant: "other", Labels: []job.Pair{red}}, "[]"},
	} {
		if c.q.Limit = 2; c.q.Tenant == "" {
			c.q.Tenant = "default"
		}
		for _, walk := range []bool{false, true} {
			names := s.listed(c.q, walk)
			for i := range names {
				names[i], _, _ = strings.Cut(names[i], " ")
			}
			if got := fmt.Sprint(names); got != c.want {
				t.Errorf("list %+v (walk: %t): %s, want %s", c.q, walk, got, c.want)
			}
		}
	}
}

// TestIndexComesAfterTheVersion: a release that does not know the index meets the version of the rows before any other row
// that it cannot read.
func TestIndexComesAfterTheVersion(t *testing.T) {
	s := rareJobs(t, 1)
	low := []byte{byte(job.KindMeta)}
	err := s.store.Scan(low, job.PrefixEnd(low), func(key, value []byte) (bool, error) {
		if name := string(key[1:]); name != core.MetaRows && value[0] > job.RowsVersionUnmarked {
			t.Errorf("the row meta %s comes first", name)
		} else if name == core.MetaRows {
			return false, nil
		}
		return true, nil
	})
	if err != nil || markedRows(t, s.store) != job.RowsVersionOfIndex {
		t.Errorf("the rows have version %d, %v; want %d", markedRows(t, s.store), err, job.RowsVersionOfIndex)
	}
}
