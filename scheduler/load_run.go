package scheduler

import (
	"fmt"

	"github.com/carillon-io/carillon/job"
)

func (c *Core) loadRun(key, value []byte) (Launch, error) {
	id, err := job.ParseRunKey(key)
	if err != nil {
		return Launch{}, err
	}
	run, err := job.DecodeRun(id, value)
	if err != nil {
		return Launch{}, fmt.Errorf("run %s: %w", id, err)
	}
	if run.Deadline == 0 {
		run.Fence = max(run.Fence, c.fenceMin) // whoever has it now is the worker with the fence
	}
	live := liveRun{slot: c.rowOf(id.Job), attempt: run.Attempt, fence: run.Fence, due: run.Due, payload: run.HasPayload}
	l := Launch{Run: id, Due: run.Due, Fence: run.Fence, Attempt: run.Attempt, HasPayload: run.HasPayload}
	if live.slot != 0 {
		r := c.rows.row(live.slot)
		p := c.profiles.get(r.profile)
		l.Tenant = r.tenant
		if l.Limit = p.limit(); l.Limit > 0 {
			live.waits = true
			l.Mode = c.modeAfterCrash(p, &run)
		}
	}
	if run.Deadline != 0 {
		c.watch(&live, &run)
	}
	if run.Attempt > 1 || run.Deadline != 0 || run.Stale > 0 {
		c.retries[id] = &run
	}
	c.live[id] = live
	return l, nil
}

// modeAfterCrash says how a run of a job that lets only so many runs go at a time is launched again. One
// that may have been going gets its turn, and so do those that waited for theirs, in their order; one
// that is yet to come does what the policy says.
func (c *Core) modeAfterCrash(p *profileEntry, run *job.Run) Mode {
	switch {
	case run.Attempt > run.Base+1:
		return ModeHeld
	case run.ID.IsManual() || run.Base > 0:
		return ModeWait
	case run.Due <= job.Millis(c.wheel.Now()) && p.mode() != ModeCancel:
		return ModeWait
	default:
		return p.mode()
	}
}

// loadStreak takes in how many runs of a job in a row ended dead.
func (c *Core) loadStreak(key, value []byte) error {
	id, err := job.ParseJobKey(key)
	if err != nil {
		return err
	}
	n, err := job.DecodeStreak(value)
	s := c.rowOf(id)
	if err != nil || s == 0 {
		return err
	}
	c.streaks[id] = n
	r := c.rows.row(s)
	if p := c.profiles.get(r.profile); p.PauseOnFailure > 0 && n >= p.PauseOnFailure && r.isActive() {
		c.overdrawn = append(c.overdrawn, AutoPause{ID: id, Reason: fmt.Sprintf("%d runs in a row failed", n)})
	}
	return nil
}
