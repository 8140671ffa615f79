package core

import (
	"github.com/carillon-io/carillon/fair"
	"github.com/carillon-io/carillon/instant"
	"github.com/carillon-io/carillon/job"
	"github.com/carillon-io/carillon/wheel"
)

// The wheel of a follower stays behind the time by the grace, because a timer that leaves a wheel must be decided,
// and only a leader decides. If the leader decides a tick in time, the follower arms the job for its next tick before
// its wheel gets there. A tick that the wheel does reach is late: it waits in the backlog of late ticks until the
// leader's row arrives, or until this core leads and decides it.

// wheelStride is how many ticks the wheel of a follower falls behind before it advances. That is one second. With a
// larger one, more is left to do at a takeover; with a smaller one, an idle standby wakes its wheel more often for
// nothing.
const wheelStride = 1000

// KeepTime advances the wheel of a follower, which stays behind the time.
func (c *Core) KeepTime(now instant.Millis) {
	c.now = now
	c.presence.begin(now) // ticks that were due before this core leads were met by another engine, or by none
	if now.Add(c.settings.Lead) < instant.Millis(c.wheel.Now()) {
		c.rewind()
		return
	}
	to := wheel.Tick(c.grace()) - 1
	if to < c.wheel.Now()+wheelStride {
		return
	}
	c.wheel.Advance(to, backlogTakesMax, c.passed)
	c.dropVoid(&c.backlog)
	c.dropVoid(&c.late)
	c.dropVoidRetired()
	c.watches.dropVoid()
}

// passed handles a timer that leaves the wheel of a follower. A completed job waits until the leader deletes it, or
// until this core leads.
func (c *Core) passed(id uint64, _ wheel.Tick) {
	if id&watchBit != 0 {
		c.ringBehind(uint32(id))
		return
	}
	c.takeJob(seat(id))
}

// rewind arms all jobs on a new wheel that stands at the present. It is needed when the clock was set back by more
// than the lead, because a wheel cannot go back and a leader decides whatever its wheel has passed. It takes as long
// as arming does at a start.
func (c *Core) rewind() {
	c.wheel = wheel.New(wheel.Tick(c.now))
	c.backlog = fair.NewQueue[tenantNo, backlogEntry](decideQuantum)
	c.late = fair.NewQueue[tenantNo, backlogEntry](decideQuantum)
	c.shared, c.retirement = newWaitingLines(), retirement{}
	c.backlogged, c.reaping = 0, 0
	clear(c.presence.away)
	for s := seat(1); s < c.rows.next; s++ {
		if r := c.rows.row(s); r.id != 0 {
			r.timer, r.marks = 0, r.marks&stateMask
			c.armLoaded(s, r)
		}
	}
	c.watches.armed, c.watches.behind = 0, nil
	for n := range c.watches.list {
		w := &c.watches.list[n]
		if w.timer, w.isBehind = 0, false; w.run != (job.RunID{}) {
			live := c.live[w.run]
			c.watch(&live, c.retries[w.run])
		}
	}
}
