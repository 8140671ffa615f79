package core

import (
	"github.com/carillon-io/carillon/instant"
	"github.com/carillon-io/carillon/job"
)

// Schedules change with a calendar that they refer to, or with the rules of a zone. The change itself is one commit.
// The jobs follow in pieces, each in a step of its own, so that no step takes long. A mark in the store says that
// pieces are still to come, so that a start or a takeover continues them.
//
// Decided ticks stay decided, and debts stay owed. A tick that the change adds counts only if it lies after the end
// of the lead. Ticks that passed while a job was paused are not decided here: the resume uses the schedule as it is
// then.

// replanRows is how many rows of the table one piece visits. It bounds a piece even if no job of it moves: visiting so
// many rows takes a fraction of a millisecond.
const replanRows = 4096

// MetaReplan records that some jobs do not follow their changed schedules yet.
const MetaReplan = "replan"

// Replan moves one piece of the jobs to their changed schedules, beginning at a seat of the table.
type Replan struct {
	Handled
	From uint32

	Next  uint32 // result: where the next piece begins; 0: all jobs follow
	Moved int    // result: jobs whose next tick has changed
}

// Bytes implements [Proposal].
func (p *Replan) Bytes() int { return timerBytes }

// replanSoon records that jobs must follow a change, and asks for the pieces. The mark in the store and the request
// are both needed: the request is lost with the process, the mark is not.
func (c *Core) replanSoon() {
	c.out.Batch.PutMeta(MetaReplan, 1)
	c.out.Replan = true
	c.changes++
}

// replan moves the cursors of one piece of the jobs to the ticks of their present schedules.
func (c *Core) replan(p *Replan) {
	if p.From <= 1 {
		c.followed = c.changes
	}
	end := min(seat(p.From)+replanRows, c.rows.next)
	for s := max(1, seat(p.From)); s < end; s++ {
		r := c.rows.row(s)
		if r.id == 0 || !c.profiles.get(r.profile).moved {
			continue
		}
		if !c.more() || s > seat(p.From) && c.profiles.meter.isSpent() {
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
		return // schedules changed again behind the first pieces, and another pass has been asked for
	}
	c.profiles.unmark()
	c.unit(metaBytes)
	c.out.Batch.PutMeta(MetaReplan, 0)
}

// replanJob makes a job follow its present schedule: an active or paused job, one that completed because its schedule
// had no more ticks, or one that failed because it had none at all. It reports whether the job changed. Each case ends
// in a row that a later start reads in the same way, so a crash between two jobs only repeats work.
func (c *Core) replanJob(s seat, r *hotRow) (moved bool) {
	e := c.profiles.get(r.profile)
	decided := max(instant.Millis(c.wheel.Now()), c.led)
	ended := r.flags.Is(job.FlagCompleted | job.FlagFailed)
	switch {
	case e.fault() != nil && r.isActive():
		c.unit(RunBytes + timerBytes + len(e.err.Error()))
		c.poison(r, e.err)
		c.arm(s, r)
		return true
	case e.err != nil || r.flags.Is(job.FlagCompleted) && e.MaxRuns > 0 && r.runs >= e.MaxRuns:
		return false
	case !ended && r.cursor <= c.led: // it was due before this leadership
		c.unit(timerBytes)
		c.putOffAnew(s, r, e)
		return false
	case !ended && r.cursor <= decided: // it is about to be decided, or will be by a resume
		c.unit(RunBytes + timerBytes + len(errTooCostly.Error()))
		if moved = e.schedule != nil && c.hasMoved(r, e); moved {
			c.arm(s, r)
		} else {
			c.putOffAnew(s, r, e)
		}
		return moved
	}
	next, ok := e.upcoming(r, decided)
	if e.gaveUp {
		if r.isActive() {
			c.unit(RunBytes + timerBytes + len(errTooCostly.Error()))
			c.poison(r, errTooCostly)
			c.arm(s, r)
			return true
		}
		return false
	}
	if !ok && r.flags.Is(job.FlagCompleted) {
		return false
	}
	if ok && !ended && next == r.cursor {
		c.unit(timerBytes)
		c.putOffAnew(s, r, e)
		return false
	}
	c.unit(timerBytes + metaBytes)
	if ended {
		c.reopen(r)
	}
	if ok {
		r.cursor = next
	} else {
		c.complete(r)
	}
	c.arm(s, r)
	c.writeTimer(r)
	return true
}

// reopen lets a job go on that had completed or failed. A paused job keeps the note of its pause.
func (c *Core) reopen(r *hotRow) {
	r.version++ // so that a deletion of the completed job, if one is in progress, is refused
	hasOther := r.flags.Is(job.FlagPaused) && !r.flags.Is(job.FlagFailed)
	if r.flags &^= job.FlagCompleted | job.FlagFailed; !hasOther {
		c.out.Batch.DeleteJobRow(job.KindNote, r.id)
	}
}

// complete ends a job that its changed schedule leaves no tick. Its cursor is past the last grid point, as for every completed job. No
// outcome says when that was, and its retention counts from then, so the note does. A paused job keeps that of its pause.
func (c *Core) complete(r *hotRow) {
	r.flags |= job.FlagCompleted
	r.cursor++
	if !r.flags.Is(job.FlagPaused) {
		c.out.Batch.PutNote(r.id, job.Note{At: c.now})
	}
}

// mayHaveMoved reports whether the tick at the cursor of a job may no longer exist, because the job does not follow a
// change yet. A tick that was due before the rules of a zone changed stays due.
func (c *Core) mayHaveMoved(r *hotRow, p *profileEntry) bool {
	return p.schedule != nil && (p.hasCalendar || p.moved && r.cursor > c.led)
}

// findCursor moves the cursor of a job whose tick no longer exists to the first one that its changed schedule has, and returns
// false if that has none. A search that gives up leaves the cursor where it is.
func (c *Core) findCursor(r *hotRow, p *profileEntry) bool {
	if !c.mayHaveMoved(r, p) {
		return true
	}
	next, ok := p.search(r.cursor-1, r.cursor)
	if ok {
		r.cursor = next
	}
	return ok || p.gaveUp
}

// putOffAnew arms a job again that keeps its tick. The jitter is at most the distance to the following tick, and that
// may have changed.
func (c *Core) putOffAnew(s seat, r *hotRow, e *profileEntry) {
	if e.Jitter > 0 && r.timer != 0 && r.isActive() && !r.marks.is(markBacklog) {
		c.arm(s, r)
		c.writeTimer(r) // a standby does the same
	}
}

// hasMoved moves the cursor of a job whose tick no longer exists in its changed schedule, and reports whether it did.
func (c *Core) hasMoved(r *hotRow, p *profileEntry) bool {
	next, ok := p.search(r.cursor-1, r.cursor)
	switch {
	case ok && next == r.cursor:
		return false
	case p.gaveUp:
		c.poison(r, errTooCostly)
		return true
	case ok:
		r.cursor = next
	default:
		c.complete(r)
	}
	if r.cursor > c.now { // a pause that ended has left no missed ticks
		r.marks &^= markResumed
	}
	c.writeTimer(r)
	return true
}

// upcoming returns the tick at which the cursor of a job belongs, if all ticks up to decided are decided: for a
// completed job the first tick after that, for any other job the first one that is not decided, even if it has passed.
func (e *profileEntry) upcoming(r *hotRow, decided instant.Millis) (instant.Millis, bool) {
	after, anchor := max(decided, r.last), r.cursor
	switch {
	case r.flags.Is(job.FlagCompleted):
		anchor--
	case !r.flags.Is(job.FlagFailed) && r.cursor <= after: // possible after a manual run, or after the clock was set back
		after = r.cursor - 1
	}
	if e.gaveUp = false; e.schedule == nil {
		return 0, false
	}
	return e.search(after, anchor)
}
