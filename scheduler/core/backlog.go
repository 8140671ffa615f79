package core

import (
	"github.com/carillon-io/carillon/fair"
	"github.com/carillon-io/carillon/job"
	"github.com/carillon-io/carillon/wheel"
)

// A step can decide only so many ticks. If more are due, deciding them in the order of the wheel would let every
// tenant wait behind the herd of one. The ticks that are due then leave the wheel together and wait in the backlog,
// which serves the tenants in turn. Without a herd the backlog is empty and unused.
//
// The backlog is only in memory. A waiting job keeps its cursor, so a crash loses nothing, and the start arms the job
// again. The backlog holds at most one entry of each job. A smaller bound would leave the rest of a herd on the
// wheel, with the ticks of other tenants behind it. An entry takes eight bytes, less than the timer that the job gave
// up. What is bounded is the number of entries that one step moves.
//
// Ticks that were due long ago wait in a backlog of their own. They are decided when no tick of the present is left.
// After an outage every job has such ticks; the ticks that come due now are on time all the same.
//
// A line keeps the order in which its jobs left the wheel: by due time, then by arrival. A job whose next tick is due
// as well goes to the end of its line.

const (
	// backlogTakesMax is how many timers a step moves from the wheel to the backlog before it decides. This takes
	// some milliseconds. A herd of a million has left the wheel after sixteen steps.
	backlogTakesMax = 64 << 10
	// takesAtOnce is how many timers are moved between two checks of the step's effort.
	takesAtOnce = 1 << 10
	// lateMax is how many jobs with missed ticks a step decides. It keeps the step short.
	lateMax = 1024
	// backlogVoidMax is how many void entries a line may have, in addition to as many as it has good ones.
	backlogVoidMax = 1024
	// decideQuantum is how many ticks of one tenant are decided before the next tenant is served.
	decideQuantum = 16
)

// backlogEntry is a job whose tick is due. It is void if the job no longer has this ticket. Giving up a ticket removes
// an entry in constant time; the entry itself stays in its line until it is met, because a search through the line
// would cost as much as the herd is long.
type backlogEntry struct {
	seat   seat
	ticket wheel.Ref
}

// takeDue moves due timers from the wheel to the backlog, at most the given number.
func (c *Core) takeDue(to wheel.Tick, most int) {
	for done := false; !done && most > 0 && !c.profiles.meter.isSpent(); {
		var fired int
		fired, done = c.wheel.Advance(to, min(most, takesAtOnce), c.takeOne)
		most -= fired
	}
}

// takeOne moves one timer that left the wheel to the backlog.
func (c *Core) takeOne(id uint64, _ wheel.Tick) {
	if id&watchBit != 0 {
		c.ring(uint32(id))
		return
	}
	c.takeJob(seat(id))
}

// takeJob moves a job whose timer left the wheel to the backlog, or to the line of jobs to be deleted if it is
// completed.
func (c *Core) takeJob(s seat) {
	r := c.rows.row(s)
	if r.flags.Is(job.FlagCompleted) {
		c.retire(s, r)
		return
	}
	r.timer = 0
	c.enlist(s, r)
}

// enlist appends a job that is not on the wheel to its tenant's line.
func (c *Core) enlist(s seat, r *hotRow) {
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
	queue.Push(c.tenants.ofJob(r), backlogEntry{seat: s, ticket: c.ticket})
}

// delist removes a job from the backlog, if it is there, by giving up its ticket.
func (c *Core) delist(r *hotRow) {
	if r.marks.is(markBacklog) {
		r.marks &^= markBacklog
		r.timer = 0
		c.backlogged--
	}
}

// isGood reports whether the job of an entry still has the entry's ticket.
func (c *Core) isGood(e backlogEntry) bool {
	r := c.rows.row(e.seat)
	return r.marks.is(markBacklog) && r.timer == e.ticket
}

// dropVoid removes the void entries of a line when there are many.
func (c *Core) dropVoid(line *fair.Queue[tenantNo, backlogEntry]) {
	if line.Len() > 2*c.backlogged+backlogVoidMax {
		line.Filter(c.isGood)
	}
}

// decideInTurns decides ticks of the backlog, tenant by tenant, until the backlog is empty or the step is full. It
// returns what is left of the budget. Between chunks it reads the wheel again, because the next tick of a decided job
// may be due too.
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
			c.noteBacklogDue(c.rows.row(e.seat))
			first = false
		}
		c.decideEntry(e)
		budget--
	}
	return budget
}

// decideEntry decides the tick of an entry, or lets it wait for its tenant's share. The job then keeps its ticket: it
// moves from one line to another.
func (c *Core) decideEntry(e backlogEntry) {
	r := c.rows.row(e.seat)
	if !c.isLate(r) && c.mustWait(r) {
		c.await(e.seat, r)
		return
	}
	c.delist(r)
	c.decide(e.seat, r)
	c.arm(e.seat, r)
}

// decideLate decides ticks that were due long ago, once no present tick is left. Runs that it fires are paced as
// debts.
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
