package core

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
	const jobs = 5*ReapBatch + 7
	h, names := newRetired(t, jobs)
	h.put("other", "tick", "@at "+h.now.Time().Format(time.RFC3339Nano))
	if len(h.core.live) != 1 {
		t.Fatalf("%d live runs, want that of the other job", len(h.core.live))
	}
	for batches := 0; h.core.rows.byState[JobCompleted] > 1; batches++ {
		if n := len(h.core.out.Reap); n == 0 || n > ReapBatch || batches > jobs/ReapBatch {
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
	p.Items[0].Tenant, p.Items[0].Name, p.Items[0].Hash = "", "", NameHash{}
	h.step(p)
	h.now += 11_000
	h.step()
	if n := len(h.core.out.Reap); n != 1 {
		t.Errorf("%d jobs are handed over again, want 1", n)
	}
}
