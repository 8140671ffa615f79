package scheduler

import "github.com/carillon-io/carillon/job"

// Schedules change under their jobs: with a calendar that they follow, or with the rules of a zone. The change
// itself is one commit; the jobs follow in pieces, each in a step of its own, so that no step takes long. A
// mark in the store says that there are pieces to come, so a start or a takeover goes on with them.
//
// What is decided stays decided, and what is owed stays owed. A tick that a change brings in counts from the
// end of the lead on. What passed while a job was paused is not decided: the resume goes by the schedule of then.

// replanRows is how many places of the table one piece looks at.
const replanRows = 4096

// metaReplan says that jobs have still to follow a change of their schedules.
const metaReplan = "replan"

// Replan lets jobs follow a change of their schedules, from a place of the table on.
type Replan struct {
	settled
	From uint32

	Next  uint32 // result: where the next piece begins; 0: all have followed
	Moved int    // result: jobs whose next tick has moved
}

func (p *Replan) bytes() int { return timerBytes }

// replanSoon writes down that jobs have to follow a change, and asks for the pieces.
func (c *Core) replanSoon() {
	c.out.Batch.PutMeta(metaReplan, 1)
	c.out.Replan = true
	c.changes++
}

// replan moves the cursors of one piece of the jobs to where their schedules tick now.
func (c *Core) replan(p *Replan) {
	if p.From <= 1 {
		c.followed = c.changes
	}
	end := min(slot(p.From)+replanRows, c.rows.next)
	for s := max(1, slot(p.From)); s < end; s++ {
		r := c.rows.row(s)
		if r.id == 0 || !c.profiles.get(r.profile).moved {
			continue
		}
		if !c.more() || s > slot(p.From) && c.profiles.meter.isSpent() {
			end = s
			break
		}
		if c.replanJob(s, r) {
			p.Moved++
		}
	}
	if c.followed == 0 { // since then only calendars have changed
		c.zones.moved += p.Moved
	}
	if p.Next = 0; end < c.rows.next {
		p.Next = uint32(end)
		return
	}
	if c.followed != c.changes {
		return // schedules changed again behind the first pieces; the next pass is asked for
	}
	c.profiles.unmark()
	c.unit(metaBytes)
	c.out.Batch.PutMeta(metaReplan, 0)
}

// replanJob lets a job follow its schedule as that is now: be it active, paused, at an end because the schedule had
// nothing left, or failed because it had nothing at all. It tells whether that changed the job.
func (c *Core) replanJob(s slot, r *hotRow) (moved bool) {
	e := c.profiles.get(r.profile)
	decided := max(job.Millis(c.wheel.Now()), c.led)
	ended := r.flags.Is(job.FlagCompleted | job.FlagFailed)
	switch {
	case e.err != nil && r.isActive():
		c.unit(runBytes + timerBytes + len(e.err.Error()))
		c.poison(r, e.err)
		c.arm(s, r)
		return true
	case e.err != nil || r.flags.Is(job.FlagCompleted) && e.MaxRuns > 0 && r.runs >= e.MaxRuns:
		return false
	case !ended && r.cursor <= c.led: // it was due before
		c.unit(timerBytes)
		c.putOffAnew(s, r, e)
		return false
	case !ended && r.cursor <= decided: // it is about to be decided, or will be by a resume
		c.unit(timerBytes)
		if moved = e.schedule != nil && c.hasMoved(r, e); moved {
			c.arm(s, r)
		} else {
			c.putOffAnew(s, r, e)
		}
		return moved
	}
	next, ok := e.upcoming(r, decided)
	if !ok && r.flags.Is(job.FlagCompleted) {
		return false
	}
	if ok && !ended && next == r.cursor {
		c.unit(timerBytes)
		c.putOffAnew(s, r, e)
		return false
	}
	c.unit(timerBytes + metaBytes)
	if r.flags.Is(job.FlagFailed) {
		c.out.Batch.DeleteJobRow(job.KindNote, r.id)
	}
	if ended {
		r.version++ // whoever is about to delete it as completed must not
	}
	if r.flags &^= job.FlagCompleted | job.FlagFailed; ok {
		r.cursor = next
	} else {
		r.flags |= job.FlagCompleted
		r.cursor++ // behind the last point of the grid, as of all that are completed
	}
	c.arm(s, r)
	c.writeTimer(r)
	return true
}

// mayHaveMoved tells whether the tick at the cursor of a job may be none any more, because the job has still to
// follow a change. What was due before the rules of a zone changed stays due.
func (c *Core) mayHaveMoved(r *hotRow, p *profileEntry) bool {
	return p.schedule != nil && (p.hasCalendar || p.moved && r.cursor > c.led)
}

// putOffAnew arms a job again that keeps its tick: the jitter puts its launch off by no more than the distance to the
// tick after it, and that may have changed.
func (c *Core) putOffAnew(s slot, r *hotRow, e *profileEntry) {
	if e.Jitter > 0 && r.timer != 0 && r.isActive() && !r.marks.is(markBacklog) {
		c.arm(s, r)
		c.writeTimer(r) // a standby does the same
	}
}

// hasMoved moves the cursor of a job whose tick is none by its schedule of now, which the job has still to follow,
// and tells whether it did.
func (c *Core) hasMoved(r *hotRow, p *profileEntry) bool {
	p.spend(1)
	next, ok := p.schedule.Next(r.cursor-1, r.cursor)
	switch {
	case ok && next == r.cursor:
		return false
	case ok:
		r.cursor = next
	default:
		r.flags |= job.FlagCompleted
		r.cursor++
	}
	if r.cursor > c.now { // nothing is left of a pause that ended
		r.marks &^= markResumed
	}
	c.writeTimer(r)
	return true
}

// upcoming returns the tick that the cursor of a job belongs at, when all that lies up to an instant is decided
// or has passed: for a job that was at its end the first one after that; for another one the first too, but
// nothing before what has passed of it without a decision.
func (e *profileEntry) upcoming(r *hotRow, decided job.Millis) (job.Millis, bool) {
	after, anchor := max(decided, r.last), r.cursor
	switch {
	case r.flags.Is(job.FlagCompleted):
		anchor--
	case !r.flags.Is(job.FlagFailed) && r.cursor <= after: // as it may be after a manual run, or a clock that was set back
		after = r.cursor - 1
	}
	if e.schedule == nil {
		return 0, false
	}
	e.spend(1)
	return e.schedule.Next(after, anchor)
}
