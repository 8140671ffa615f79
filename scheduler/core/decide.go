package core

import (
	"fmt"

	"github.com/carillon-io/carillon/instant"
	"github.com/carillon-io/carillon/job"
	"github.com/carillon-io/carillon/schedule"
	"github.com/carillon-io/carillon/scheduler/pad"
	"github.com/carillon-io/carillon/wheel"
)

// decideChunk is how many timers are read from the wheel at a time. A job whose next tick is due too is armed again
// between two chunks. A larger chunk makes fewer calls, and lets such a tick be decided after more ticks that are due
// later.
const decideChunk = 256

// decideDue ends the attempts whose deadlines have passed, and decides the ticks that come due within the lead.
// Deadlines left over from earlier steps use at most half of the share, so that a herd of them delays no tick for
// long.
func (c *Core) decideDue() {
	c.shareOfDecisions()
	c.profiles.meter.leaveHalf()
	full := c.upto
	c.upto = (c.out.size() + full) / 2
	c.expireBehind()
	c.expireAll()
	c.upto = full
	c.decideTicks()
	c.expireAll()
}

// decideTicks decides the ticks that come due within the lead, as many as fit the share and the effort. The rest goes
// into the backlog, for the next steps. What waited in an earlier step comes first, because it was due earlier. Missed
// ticks and debts come last, and only if the present is decided: after an outage, ticks that come due now must not
// wait behind those that are late in any case.
func (c *Core) decideTicks() {
	to := wheel.Tick(c.now.Add(c.settings.Lead))
	budget := c.decideAwaiting(c.decisionsMax)
	if c.backlog.Len() > 0 {
		if budget = c.decideInTurns(to, budget); c.backlog.Len() > 0 {
			return
		}
	}
	if !c.decideInOrder(to, budget) {
		c.takeDue(to, backlogTakesMax)
		return
	}
	if c.late.Len() == 0 && c.shared.count == 0 {
		c.presence.allDecided()
	}
	c.decideLate()
	c.payDebts()
}

// decideInOrder decides ticks in the order in which they leave the wheel. It returns false if the step is full before
// all are decided. A timer that has left the wheel and finds the step full goes to the backlog, so that its tick
// cannot be lost.
func (c *Core) decideInOrder(to wheel.Tick, budget int) (all bool) {
	for takes := 0; budget > 0 && takes < backlogTakesMax && c.fits(); {
		c.due = c.due[:0]
		fired, done := c.wheel.Advance(to, min(budget, decideChunk), c.collect)
		takes += fired
		for _, s := range c.due {
			r := c.rows.row(s)
			r.timer = 0
			if !c.fits() || c.isLate(r) {
				c.enlist(s, r)
				continue
			}
			if c.mustWait(r) {
				c.await(s, r)
				continue
			}
			c.decide(s, r)
			c.arm(s, r)
			budget--
		}
		if fired == 0 {
			return done
		}
	}
	return false
}

// fits reports whether the step has bytes and effort left for another decision.
func (c *Core) fits() bool {
	return c.more() && !c.profiles.meter.isSpent()
}

// collect sorts a timer that leaves the wheel by what it is: a deadline, the end of a retention, or a tick to decide.
func (c *Core) collect(id uint64, _ wheel.Tick) {
	if id&watchBit != 0 {
		c.ring(uint32(id))
		return
	}
	if r := c.rows.row(seat(id)); r.flags.Is(job.FlagCompleted) {
		c.retire(seat(id), r)
		return
	}
	c.due = append(c.due, seat(id))
}

// decide decides the tick at the cursor of a job, and moves the cursor on. The unit is announced before the first
// change, so that all rows of the decision are in one commit: after a crash the tick is decided with all its
// consequences, or not at all.
func (c *Core) decide(s seat, r *hotRow) {
	if r.flags.Is(job.FlagCompleted) {
		return
	}
	p := c.profiles.get(r.profile)
	p.meter.spent += decisionEffort
	if err := p.fault(); err != nil {
		c.unit(RunBytes + timerBytes + len(err.Error()))
		c.poison(r, err)
		return
	}
	c.unit(c.decisionBytes(r))
	if c.mayHaveMoved(r, p) && c.hasMoved(r, p) {
		return
	}
	if edge, missed := c.missedUntil(r); missed {
		c.catchUp(s, r, p, edge)
	} else {
		c.decideTick(s, r, p)
	}
	r.marks &^= markResumed
	if r.marks.is(markAway) && (r.flags.Is(job.FlagCompleted) || r.cursor >= c.presence.away[r.id]-c.graceMillis()) {
		c.isBack(r)
	}
	c.writeTimer(r)
}

// decideTick fires the tick at the cursor of a job. It skips the tick if the tenant has all live runs of its quota.
func (c *Core) decideTick(s seat, r *hotRow, p *profileEntry) {
	tick := r.cursor
	if c.tenantOf(r).hasAllRuns() {
		c.skip(r, tick, tick, job.ReasonQuota)
		c.moveOn(r, p, tick)
		return
	}
	r.runs++
	c.fire(s, r, tick, tick+c.jitterOf(r, p, tick), p.mode())
	c.moveOn(r, p, tick)
	c.pace.fired++
}

// moveOn moves the cursor past a decided tick. All earlier ticks are decided too. A completed job has its cursor one
// millisecond after the last tick, which keeps the grid of an @every if it continues. A job whose next tick takes too
// long to find has failed: that there is none is not certain.
func (c *Core) moveOn(r *hotRow, p *profileEntry, decided instant.Millis) {
	next, ok := p.next(r, decided)
	if !ok && p.gaveUp && (p.MaxRuns == 0 || r.runs < p.MaxRuns) {
		c.stall(r, p, decided)
		return
	}
	if !ok || p.MaxRuns > 0 && r.runs >= p.MaxRuns {
		r.flags |= job.FlagCompleted
		next = decided + 1
	}
	r.cursor = next
}

// fire turns a tick into a run. A tick that is already decided is not fired again: an update may have left one before
// the cursor. A run is named by its job and its tick, so even a tick that were decided twice would be one run.
func (c *Core) fire(s seat, r *hotRow, at, due instant.Millis, mode pad.Mode) {
	id := job.RunID{Job: r.id, At: at}
	if _, live := c.live[id]; live {
		return
	}
	r.noteTick(at)
	c.counts.Fired++
	c.start(s, &job.Run{ID: id, Due: due}, mode)
}

// poison stops a job whose schedule cannot be evaluated, and records why. It changes nothing else. The cursor stays,
// so that a later resume begins where the job stopped.
func (c *Core) poison(r *hotRow, err error) {
	r.flags |= job.FlagFailed
	c.writeTimer(r)
	c.out.Batch.PutNote(r.id, job.Note{At: c.now, Reason: err.Error()})
}

// errTooCostly is why a job fails whose next tick cannot be found. It is short, because decisionBytes counts it.
var errTooCostly = fmt.Errorf("its exclusions leave so few ticks that the next one takes more than %d steps to find", schedule.StepsMax)

// stall stops a job whose next tick takes too long to find, after a tick that is decided. All nodes and releases that
// count the same steps stop it at the same tick. The cursor is where a resume searches on: behind the tick, and on the
// grid of an @every.
func (c *Core) stall(r *hotRow, p *profileEntry, decided instant.Millis) {
	r.cursor = decided + max(1, instant.Millis(p.schedule.Interval().Milliseconds()))
	c.poison(r, errTooCostly)
}
