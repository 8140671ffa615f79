package scheduler

import (
	"slices"

	"github.com/carillon-io/carillon/job"
)

// A calendar is shared: when it changes, so do the schedules of all jobs that refer to it, and with them
// the jobs' next ticks. The change itself is one commit; the jobs follow: see [Replan].

// calendarsMax bounds the calendars of an engine: all are in memory.
const calendarsMax = 10_000

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
	if list := c.profiles.recompile(ref, c.calendarOf); len(list) > 0 {
		c.profiles.mark(list)
		c.replanSoon()
	}
}

// followCalendars gives a put its schedule by the calendars of now: its proposer may have read older ones, and a
// job that is there already may have followed them.
func (c *Core) followCalendars(p *Put) (err error) {
	spec := p.Profile.Spec
	if p.Schedule.Kind() == job.ScheduleAt || len(spec.Calendars()) == 0 {
		return nil
	}
	if n, known := c.profiles.byValue[p.Profile]; known {
		e := c.profiles.get(n)
		p.Schedule = e.schedule
		return e.err
	}
	p.Schedule, err = c.profiles.rules.ParseScheduleWith(spec, c.calendarOf)
	return err
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

// takeCalendar takes a calendar in, as the store has it.
func (c *Core) takeCalendar(key, value []byte) error {
	cal, err := job.DecodeCalendar(key, value)
	if err != nil {
		return err
	}
	c.calendars[calendarRef(cal.Tenant, cal.Name)] = &cal
	return nil
}
