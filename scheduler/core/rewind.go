package core

import (
	"github.com/carillon-io/carillon/instant"
	"github.com/carillon-io/carillon/job"
	"github.com/carillon-io/carillon/wheel"
)

// If the clock is set back, the wheel goes back with it. What is decided stays so: that is in the cursors of the jobs, which
// do not move, so no tick is decided twice, and a job stands still until the clock has come to its cursor again. The wheel
// only says when a job is looked at. If it stayed where it was, a job that is registered or changed now would have all its
// ticks up to there decided at once, long before they are due, because a wheel fires what it has passed.
//
// The same holds for what has left the wheel and waits beside it: the ticks of the backlog, those that wait for a share,
// jobs to be deleted, and deadlines. What is ahead of the clock now goes back to the wheel.

// isBehind reports whether the wheel is ahead of all that may be decided now, because the clock was set back.
func (c *Core) isBehind() bool {
	return wheel.Tick(c.now.Add(c.settings.Lead)) < c.wheel.Now()
}

// rewind takes the wheel back to the present, and puts back on it what waits beside it and is yet to come.
func (c *Core) rewind() {
	c.wheel.Rewind(max(0, wheel.Tick(c.now)))
	c.backlog.Filter(c.isStillDue)
	c.late.Filter(c.isStillDue)
	c.rewindShared()
	c.rewindRetired()
	c.rewindWatches()
}

// isStillDue reports whether an entry of a line is good, and its tick due as of now. If the tick is yet to come, the job
// leaves the line for the wheel.
func (c *Core) isStillDue(e backlogEntry) bool {
	if !c.isGood(e) {
		return false
	}
	r := c.rows.row(e.seat)
	if c.dueOf(r) <= c.now {
		return true
	}
	c.arm(e.seat, r)
	return false
}

// rewindShared does so for the ticks that wait for a share, tenants in turn.
func (c *Core) rewindShared() {
	for range c.shared.tenants.Len() {
		t := c.shared.tenants.Pop()
		line := c.shared.lines[t]
		for range line.Len() {
			if e := line.Pop(); c.isStillDue(e) {
				line.Push(e)
			} else {
				c.shared.count--
			}
		}
		if line.Len() == 0 {
			delete(c.shared.lines, t)
			continue
		}
		c.shared.tenants.Push(t)
	}
}

// rewindRetired does so for the completed jobs whose retention is not over as of now, by what their rows say.
func (c *Core) rewindRetired() {
	for range c.retirement.line.Len() {
		e := c.retirement.line.Pop()
		if !c.isRetired(e) {
			continue
		}
		r := c.rows.row(e.seat)
		if keep := c.retention(r); r.flags.Is(job.FlagCompleted) && max(r.cursor, r.last).Add(keep) > c.now {
			c.armLoaded(e.seat, r)
			continue
		}
		c.retirement.line.Push(e)
	}
}

// rewindWatches does so for the deadlines.
func (c *Core) rewindWatches() {
	behind := c.watches.behind
	c.watches.behind = nil
	for _, n := range behind {
		w := &c.watches.list[n]
		if !w.isBehind {
			continue
		}
		if w.isBehind = false; w.run != (job.RunID{}) && w.timer == 0 {
			live := c.live[w.run]
			c.watch(&live, c.retries[w.run])
		}
	}
}

// clockShown returns the latest instant that the clock is known to have shown: in this leadership, or by the ticks that are
// decided, of which none is further ahead of the clock than the largest lead.
func (c *Core) clockShown() instant.Millis {
	return max(c.latest, c.rows.last.Add(-LeadMax))
}
