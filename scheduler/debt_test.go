package scheduler

import (
	"testing"
	"time"

	"github.com/carillon-io/carillon/instant"
	"github.com/carillon-io/carillon/job"
	"github.com/carillon-io/carillon/scheduler/core"
)

// TestGridOfAJobThatGoesOn: an update lowers max_runs to what a job has had and owes, so the job is complete. A pause takes
// back what it owes, and the job goes on, at the ticks that its @every has had from the beginning.
func TestGridOfAJobThatGoesOn(t *testing.T) {
	s := newSim(t, time.Date(2026, 1, 5, 12, 0, 0, 0, time.UTC), Settings{CatchupRate: 1})
	put := func(runs uint32) {
		s.putIn("job", "@every 1m", "", func(d *job.Definition) {
			d.Missed, d.MaxCatchupRuns, d.CatchupWindow, d.MaxRuns = job.MissedBackfill, 10, time.Hour, runs
		})
	}
	pause := func(resume bool) {
		s.propose(&core.Pause{Tenant: "default", Name: "job", Hash: s.hash("job"), Resume: resume})
	}
	put(0)
	s.now = s.now.Add(5*time.Minute + 13*time.Second)
	s.crash()
	put(4)
	id, now := s.engine.core.IDOf(s.hash("job")), s.engine.core.Inspect()
	if r := now.Jobs[id].Timer; !r.Flags.Is(job.FlagCompleted) || len(now.Debts[id]) == 0 || now.Debts[id][0].Last == now.Debts[id][0].From {
		t.Fatalf("flags %b, %v is owed; want a completed job that owes some", r.Flags, now.Debts[id])
	}
	pause(false)
	pause(true)
	if r, want := s.engine.core.Inspect().Jobs[id].Timer, instant.Of(time.Date(2026, 1, 5, 12, 6, 0, 0, time.UTC)); r.Flags.JobStatus() != "active" || r.Cursor != want {
		t.Errorf("the job goes on at %s (flags %b), want %s", r.Cursor, r.Flags, want)
	}
}
