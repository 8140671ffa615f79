package core

import (
	"github.com/carillon-io/carillon/instant"
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
	if c.isBehind() {
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
