package scheduler

import (
	"slices"

	"github.com/carillon-io/carillon/job"
)

// A calendar is shared: when it changes, so do the schedules of all jobs that refer to it, and with them
// the jobs' next ticks. The change itself is one commit; the jobs follow in pieces, each a commit
// of its own, so that no step takes long. A mark in the store says that there are pieces to come.
//
// What is decided stays decided, and what is owed stays owed. A tick that a change brings in counts from the end of
// the lead on. What passed while a job was paused is not decided: the resume goes by the calendar of then.

// calendarsMax bounds the calendars of an engine: all are in memory.
const calendarsMax = 10_000

// replanRows is how many places of the table one piece looks at.
const replanRows = 4096

// metaReplan says that jobs have still to follow a change of a calendar.
const metaReplan = "replan"

// PutCalendar adds a calendar, or puts it in the place of the one that has its name.
type PutCalendar struct {
	settled
	Calendar job.Calendar // then, as it is stored
	Actor    job.Actor

	Created bool // result
}

func (p *PutCalendar) bytes() int {
	n := 2*proposalBytes + len(p.Calendar.Description)
	for _, line := range p.Calendar.Exclude {
		n += len(line) + 4
	}
	return n
}

// DeleteCalendar forgets a calendar.
type DeleteCalendar struct {
	settled
	Tenant, Name string
	Actor        job.Actor
}

func (p *DeleteCalendar) bytes() int { return proposalBytes }

// Replan lets jobs follow a change of a calendar, from a place of the table on.
type Replan struct {
	settled
	From uint32

	Next uint32 // result: where the next piece begins; 0: all have followed
}

func (p *Replan) bytes() int { return timerBytes }

func calendarRef(tenant, name string) string { return tenant + "/" + name }

// calendarOf returns a calendar by its reference, for compiling schedules.
func (c *Core) calendarOf(ref string) (*job.Calendar, bool) {
	cal, ok := c.calendars[ref]
	return cal, ok
}

func (c *Core) putCalendar(p *PutCalendar) {
	cal := &p.Calendar
	ref := calendarRef(cal.Tenant, cal.Name)
	old := c.calendars[ref]
	if old == nil && len(c.calendars) >= calendarsMax {
		p.Err = job.Errorf(job.CodeQuotaExceeded, "name", "there are %d calendars, and no more are allowed; delete one", calendarsMax)
		return
	}
	cal.Version, cal.UpdatedAt = 1, c.now
	if p.Created = old == nil; old != nil {
		cal.Version = old.Version + 1
	}
	kept := *cal
	kept.Exclude = slices.Clone(cal.Exclude)
	c.calendars[ref] = &kept
	c.out.Batch.PutCalendar(&kept)
	c.audit(p.Actor, job.ActionPutCalendar, job.AuditEntry{Tenant: cal.Tenant, Name: cal.Name})
	if c.profiles.recompile(ref, c.calendarOf) {
		c.out.Batch.PutMeta(metaReplan, 1)
		c.out.Replan = true
	}
}

func (c *Core) deleteCalendar(p *DeleteCalendar) {
	ref := calendarRef(p.Tenant, p.Name)
	switch {
	case c.calendars[ref] == nil:
		p.Err = errUnknownCalendar(p.Name)
	case c.profiles.uses(ref):
		p.Err = job.Errorf(job.CodeVersionConflict, "name", "jobs refer to calendar %q; change or delete them first", p.Name)
	default:
		delete(c.calendars, ref)
		c.out.Batch.DeleteCalendar(p.Tenant, p.Name)
		c.audit(p.Actor, job.ActionDeleteCalendar, job.AuditEntry{Tenant: p.Tenant, Name: p.Name})
	}
}

func errUnknownCalendar(name string) error {
	return job.Errorf(job.CodeNotFound, "name", "there is no calendar %q", name)
}

// errTextBytes covers what is said of a schedule that leaves nothing.
const errTextBytes = 512

// replan moves the cursors of one piece of the jobs to where their schedules tick now.
func (c *Core) replan(p *Replan) {
	end := min(slot(p.From)+replanRows, c.rows.next)
	for s := max(1, slot(p.From)); s < end; s++ {
		if !c.more() || s > slot(p.From) && c.profiles.meter.isSpent() {
			end = s
			break
		}
		if r := c.rows.row(s); r.id != 0 && c.profiles.get(r.profile).hasCalendar {
			c.unit(timerBytes + 2*metaBytes + errTextBytes)
			c.replanJob(s, r)
		}
	}
	if p.Next = 0; end < c.rows.next {
		p.Next = uint32(end)
		return
	}
	c.unit(metaBytes)
	c.out.Batch.PutMeta(metaReplan, 0)
}

// replanJob lets a job follow its schedule as that is now: be it active, paused, at an end because the calendar had
// left everything out, or failed because it had left nothing at all.
func (c *Core) replanJob(s slot, r *hotRow) {
	e := c.profiles.get(r.profile)
	decided := max(job.Millis(c.wheel.Now()), c.led)
	ended := r.flags.Is(job.FlagCompleted | job.FlagFailed)
	switch {
	case e.err != nil && r.isActive():
		c.poison(r, e.err)
		c.arm(s, r)
		return
	case e.err != nil || r.flags.Is(job.FlagCompleted) && e.MaxRuns > 0 && r.runs >= e.MaxRuns:
		return
	case !ended && r.cursor <= decided: // it is about to be decided, or will be by a resume
		return
	}
	next, ok := e.upcoming(r, decided)
	if !ok && r.flags.Is(job.FlagCompleted) || ok && !ended && next == r.cursor {
		return
	}
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
}

// hasMoved moves the cursor of a job whose tick was left out by a calendar that the job has still to follow, and
// tells whether it did.
func (c *Core) hasMoved(r *hotRow, p *profileEntry) bool {
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
	return e.schedule.Next(after, anchor)
}

// takeCalendar takes a calendar in, as the store has it.
func (c *Core) takeCalendar(key, value []byte) error {
	cal, err := job.DecodeCalendar(key, value)
	if err != nil {
		return err
	}
	c.calendars[calendarRef(cal.Tenant, cal.Name)] = &cal
	return nil
}
