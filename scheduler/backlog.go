package scheduler

import (
	"github.com/carillon-io/carillon/fair"
	"github.com/carillon-io/carillon/job"
	"github.com/carillon-io/carillon/wheel"
)

// When more ticks are due than one step decides, the wheel's order would let everybody wait behind a
// herd. So what is due then comes off the wheel, whole, and waits in the backlog, from which tenants
// are served by turns. Without a herd the backlog is empty, and nothing goes through it.
//
// The backlog is memory only. A job in it has its cursor where it was, so a crash loses nothing, and
// the start arms it anew. Its bound is the number of jobs: a bound of its own would leave the rest of a
// herd on the wheel, and others behind it. An entry is eight bytes, less than the timer that its
// job gave back. What has a bound is how many entries a step moves.
//
// What was due long ago waits in a backlog of its own, and is decided when nothing is left that is due
// now. After an outage that is every job; those that are due now are on time all the same.
//
// A line is in the order in which its jobs came off the wheel: by due time, then by arrival. A job
// whose next tick is due as well goes to the end of its line.

const (
	// backlogTakesMax is how many timers a step takes off the wheel into the backlog before it decides.
	// They take it some milliseconds. A herd of a million is off the wheel within sixteen steps.
	backlogTakesMax = 64 << 10
	// takesAtOnce is how many it takes between two looks at its effort.
	takesAtOnce = 1 << 10
	// lateMax is how many jobs with missed ticks a step decides, so that it stays short.
	lateMax = 1024
	// backlogVoidMax is how many void entries there may be, besides as many as good ones.
	backlogVoidMax = 1024
	// decideQuantum is how many ticks of one tenant are decided before it is another's turn.
	decideQuantum = 16
)

// backlogEntry is a job whose tick is due. It is void if the job does not have its ticket any more.
type backlogEntry struct {
	slot   slot
	ticket wheel.Ref
}

// takeDue moves what is due from the wheel to the backlog, at most so much.
func (c *Core) takeDue(to wheel.Tick, most int) {
	for done := false; !done && most > 0 && !c.profiles.meter.isSpent(); {
		var fired int
		fired, done = c.wheel.Advance(to, min(most, takesAtOnce), c.takeOne)
		most -= fired
	}
}

// takeOne moves one timer that came off the wheel to the backlog.
func (c *Core) takeOne(id uint64, _ wheel.Tick) {
	if id&watchBit != 0 {
		c.ring(uint32(id))
		return
	}
	c.takeJob(slot(id))
}

// takeJob moves a job whose timer came off the wheel to the backlog, or to those that are deleted if it is complete.
func (c *Core) takeJob(s slot) {
	r := c.rows.row(s)
	if r.flags.Is(job.FlagCompleted) {
		c.retire(s, r)
		return
	}
	r.timer = 0
	c.enlist(s, r)
}

// enlist puts a job that is off the wheel at the end of its tenant's line.
func (c *Core) enlist(s slot, r *hotRow) {
	c.ticket = max(1, c.ticket+1)
	r.timer = c.ticket
	r.marks |= markBacklog
	c.backlogged++
	queue := &c.backlog
	if c.isLate(r) {
		queue = &c.late
	} else if queue.Len() == 0 {
		c.noteBacklogDue(r)
	}
	queue.Push(r.tenant, backlogEntry{slot: s, ticket: c.ticket})
}

// delist takes a job out of the backlog, if it is there: it gives up its ticket.
func (c *Core) delist(r *hotRow) {
	if r.marks.is(markBacklog) {
		r.marks &^= markBacklog
		r.timer = 0
		c.backlogged--
	}
}

// isGood tells whether the job of an entry still has its ticket.
func (c *Core) isGood(e backlogEntry) bool {
	r := c.rows.row(e.slot)
	return r.marks.is(markBacklog) && r.timer == e.ticket
}

// dropVoid drops the void entries of a line when they are many.
func (c *Core) dropVoid(line *fair.Queue[tenantHash, backlogEntry]) {
	if line.Len() > 2*c.backlogged+backlogVoidMax {
		line.Filter(c.isGood)
	}
}

// decideInTurns decides ticks of the backlog until it is empty or the step is full, and returns what is
// left of the budget. Between chunks it looks at the wheel again, where jobs wait for their next tick
// that is due too.
func (c *Core) decideInTurns(to wheel.Tick, budget int) int {
	c.takeDue(to, backlogTakesMax)
	c.dropVoid(&c.backlog)
	first := true
	for n := 0; budget > 0 && c.fits(); n++ {
		if n == decideChunk {
			c.takeDue(to, decideChunk)
			n = 0
		}
		e, ok := c.backlog.Pop()
		if !ok {
			break
		}
		if !c.isGood(e) {
			continue
		}
		if first {
			c.noteBacklogDue(c.rows.row(e.slot))
			first = false
		}
		c.decideEntry(e)
		budget--
	}
	return budget
}

func (c *Core) decideEntry(e backlogEntry) {
	r := c.rows.row(e.slot)
	if !c.isLate(r) && c.mustWait(r) {
		c.await(e.slot, r)
		return
	}
	c.delist(r)
	c.decide(e.slot, r)
	c.arm(e.slot, r)
}

// decideLate decides ticks that were due long ago, when all that are due now are decided. What they
// fire, they fire at the pace of debts.
func (c *Core) decideLate() {
	c.dropVoid(&c.late)
	for budget := min(c.decisionsMax, lateMax); budget > 0 && c.fits(); {
		e, ok := c.late.Pop()
		if !ok {
			return
		}
		if c.isGood(e) {
			c.decideEntry(e)
			budget--
		}
	}
}
