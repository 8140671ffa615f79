package core

import (
	"fmt"

	"github.com/carillon-io/carillon/job"
)

// takeRun adds a live run from its stored row. The limits of its job are applied when the core leads. A run whose job
// does not exist has seat 0. It stays live until its outcome is known, and is then recorded.
func (c *Core) takeRun(key, value []byte) error {
	id, err := job.ParseRunKey(key)
	if err != nil {
		return err
	}
	run, err := job.DecodeRun(id, value)
	if err != nil {
		return fmt.Errorf("run %s: %w", id, err)
	}
	live := liveRun{
		seat: c.seatOf(id.Job), attempt: run.Attempt, fence: run.Fence, due: run.Due, payload: run.HasPayload, watch: c.live[id].watch,
	}
	if run.Deadline != 0 {
		c.watch(&live, &run)
	} else {
		c.unwatch(&live)
	}
	if run.Attempt > 1 || run.Deadline != 0 || run.Stale > 0 {
		kept := run
		c.retries[id] = &kept
	} else {
		delete(c.retries, id)
	}
	c.live[id] = live
	return nil
}

// takeStreak adds from its stored row how many runs of a job in a row ended dead.
func (c *Core) takeStreak(key, value []byte) error {
	id, err := job.ParseJobKey(key)
	if err != nil {
		return err
	}
	n, err := job.DecodeStreak(value)
	if err == nil && c.seatOf(id) != 0 {
		c.streaks[id] = n
	}
	return err
}
