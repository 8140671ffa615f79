package scheduler

import (
	"fmt"
	"testing"
	"time"

	"github.com/carillon-io/carillon/instant"
	"github.com/carillon-io/carillon/job"
)

// answer settles what a core handed over for deletion: it deletes all, or keeps them until an instant.
func (h *herd) answer(names map[job.ID]string, until instant.Millis) *ReapJobs {
	p := &ReapJobs{}
	for _, r := range h.core.out.Reap {
		item := ReapItem{Reap: r, Tenant: "herd", Name: names[r.ID], Hash: h.hasher.hash("herd", names[r.ID]), Until: until}
		p.Items = append(p.Items, item)
	}
	return p
}

// retired is a herd of one-shots that have fired and whose retention ends at one instant.
func newRetired(t *testing.T, jobs int) (h *herd, names map[job.ID]string) {
	h = newHerd(t)
	h.core.decisionsMax, h.core.settings.CompletedRetention = jobs, 10*time.Second
	names = make(map[job.ID]string)
	for i := range jobs {
		name := fmt.Sprint("job", i)
		names[h.put("herd", name, "@at "+(h.now+1000).Time().Format(time.RFC3339Nano)).Stamp.ID] = name
	}
	h.now += 1000
	h.liveMax = 10 * jobs
	if n := len(h.end(h.step())); n != 0 || h.core.rows.byState[JobCompleted] != jobs {
		t.Fatalf("%d launches, %d jobs completed", n, h.core.rows.byState[JobCompleted])
	}
	h.now += 11_000
	return h, names
}

// TestReapsAllOfAHerd: however many jobs come to the end of their retention at one instant, all are handed over, in
// batches, the next when one is answered, and no tick waits for them.
func TestReapsAllOfAHerd(t *testing.T) {
	const jobs = 5*reapBatch + 7
	h, names := newRetired(t, jobs)
	h.put("other", "tick", "@at "+h.now.Time().Format(time.RFC3339Nano))
	if len(h.core.live) != 1 {
		t.Fatalf("%d live runs, want that of the other job", len(h.core.live))
	}
	for batches := 0; h.core.rows.byState[JobCompleted] > 1; batches++ {
		if n := len(h.core.out.Reap); n == 0 || n > reapBatch || batches > jobs/reapBatch {
			t.Fatalf("batch %d has %d jobs; %d are left", batches, n, h.core.rows.byState[JobCompleted])
		}
		h.step(h.answer(names, 0))
	}
	if c := h.core; c.retirement.line.Len() != 0 || c.retirement.jobs != 0 || c.retirement.asked != 0 || c.reaping != 1 || c.Armed() != 0 {
		t.Errorf("retirement %+v, %d to be reaped, %d armed", c.retirement, c.reaping, c.Armed())
	}
}

// TestReapIsPutOff: a job that may not be deleted yet is handed over again soon after, and not a retention later;
// one that is triggered between question and answer stays.
func TestReapIsPutOff(t *testing.T) {
	h, names := newRetired(t, 2)
	h.step()
	p := h.answer(names, h.now+5_000)
	h.step(p)
	h.now += 4_000
	if h.step(); len(h.core.out.Reap) != 0 {
		t.Fatal("the jobs are handed over too early")
	}
	h.now += 2_000
	if h.step(); len(h.core.out.Reap) != 2 {
		t.Fatalf("%d jobs are handed over again, want 2", len(h.core.out.Reap))
	}
	p = h.answer(names, 0)
	if err := h.trigger("herd", p.Items[0].Name); err != nil {
		t.Fatal(err)
	}
	if h.step(p); h.core.rows.count != 1 {
		t.Errorf("%d jobs are left, want the one that was triggered", h.core.rows.count)
	}
}

// TestReapOfAnUnreadableJob: a job whose row cannot be read, so that its name is not known, is handed over again.
func TestReapOfAnUnreadableJob(t *testing.T) {
	h, names := newRetired(t, 1)
	h.step()
	p := h.answer(names, h.now+10_000)
	p.Items[0].Tenant, p.Items[0].Name, p.Items[0].Hash = "", "", nameHash{}
	h.step(p)
	h.now += 11_000
	h.step()
	if n := len(h.core.out.Reap); n != 1 {
		t.Errorf("%d jobs are handed over again, want 1", n)
	}
}

// TestPauseQueue: none of many jobs that fail at once is lost, and each is there once.
func TestPauseQueue(t *testing.T) {
	q := newPauseQueue()
	const jobs = 20_000
	for i := range 2 * jobs {
		q.add(AutoPause{ID: job.ID(1 + i%jobs)})
	}
	for n := 1; ; n++ {
		select {
		case <-q.ready:
		default:
			t.Fatalf("nothing is ready before job %d", n)
		}
		if p, ok := q.next(); !ok || p.ID != job.ID(n) {
			t.Fatalf("job %s, %t; want %d", p.ID, ok, n)
		}
		if n == jobs {
			break
		}
	}
	if _, ok := q.next(); ok {
		t.Error("a job is there twice")
	}
}

// TestReapCountsFromTheResume: a resume may complete a job whose last tick the history has long forgotten. The
// retention of the job counts from the resume, also after a crash.
func TestReapCountsFromTheResume(t *testing.T) {
	s := newSim(t, time.Date(2026, 1, 5, 12, 0, 0, 0, time.UTC), Settings{HistoryDays: 1, CompletedRetention: -1})
	def := oneShot("late", 0)
	def.Schedule, def.Missed, def.Paused = "@at 2026-01-05T12:01:00Z", job.MissedSkip, true
	p := must(s.engine.Prepare(def))
	s.propose(p)
	if p.Err != nil {
		t.Fatal(p.Err)
	}
	s.now = s.now.Add(120 * time.Hour)
	resume := &Pause{Tenant: "default", Name: "late", Hash: s.hash("late"), Resume: true}
	if s.propose(resume); resume.Err != nil {
		t.Fatal(resume.Err)
	}
	resumed := instant.Of(s.now)
	s.now = s.now.Add(time.Second)
	s.crash()
	reap := Reap{ID: p.Stamp.ID, Keep: time.Hour, Led: instant.Of(s.now)}
	if item := s.engine.judge(reap); item.Until != resumed+3_600_000 {
		t.Errorf("the job is kept until %s, want %s", item.Until, resumed+3_600_000)
	}
	s.now = s.now.Add(time.Hour)
	if item := s.engine.judge(reap); item.Until != 0 || item.Gone {
		t.Errorf("an hour later the job is kept until %s", item.Until)
	}
}
