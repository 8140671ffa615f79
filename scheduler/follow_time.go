package scheduler

import (
	"github.com/carillon-io/carillon/fair"
	"github.com/carillon-io/carillon/job"
	"github.com/carillon-io/carillon/wheel"
)

// The wheel of a follower stays behind the time by the grace, because what comes off a wheel must be
// decided and only a leader decides. A job whose tick the leader decided in time is armed for the next one
// before the wheel gets there. What the wheel does get to is late: it waits in the backlog of what is
// late, where the leader's row finds it, or this core's own decision when it leads.

// wheelStride is by how many ticks the wheel of a follower falls behind before it moves on.
const wheelStride = 1000

// keepTime lets the wheel go on, behind the time.
func (c *Core) keepTime(now job.Millis) {
	c.now = now
	c.presence.begin(now) // what is due before the time at which it leads met another engine, or none
	if now.Add(c.settings.Lead) < job.Millis(c.wheel.Now()) {
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

// passed puts aside what comes off the wheel. A completed job waits for its deletion by the leader, or by this
// core when it leads.
func (c *Core) passed(id uint64, _ wheel.Tick) {
	if id&watchBit != 0 {
		c.ringBehind(uint32(id))
		return
	}
	c.takeJob(slot(id))
}

// rewind arms everything anew on a wheel that stands at the present, because the clock was set back by more
// than the lead: no wheel goes back, and a leader decides all that its wheel has passed. It takes as long
// as the arming does at a start.
func (c *Core) rewind() {
	c.wheel = wheel.New(wheel.Tick(c.now))
	c.backlog = fair.NewQueue[tenantHash, backlogEntry](decideQuantum)
	c.late = fair.NewQueue[tenantHash, backlogEntry](decideQuantum)
	c.shared, c.retirement = newWaitingLines(), retirement{}
	c.backlogged, c.reaping = 0, 0
	clear(c.presence.away)
	for s := slot(1); s < c.rows.next; s++ {
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
