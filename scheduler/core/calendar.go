package core

import (
	"cmp"
	"slices"

	"github.com/carillon-io/carillon/apierr"
	"github.com/carillon-io/carillon/job"
)

// A calendar is shared. When it changes, so do the schedules and the next ticks of all jobs that refer to it. The
// change of the calendar is one commit; the jobs follow later: see [Replan].

// CalendarsMax bounds the number of calendars of an engine, because all are in memory. A larger bound would let callers
// fill the memory with calendars that no job uses.
const CalendarsMax = 10_000

// copiesMax bounds the copies of the calendars that another engine has. They are as many as that one has, and for a moment more:
// a put and a deletion at the same time may leave a copy until the copies are compared.
const copiesMax = 2 * CalendarsMax

// calendarsOfTenantMax bounds the calendars of a tenant without a quota, so that no tenant takes all that there may be. A
// tenant that has more keeps them, and adds none.
const calendarsOfTenantMax = 1_000

// PutCalendar adds a calendar, or replaces the one with the same name.
type PutCalendar struct {
	Handled
	Calendar job.Calendar // in: the calendar as the caller gives it; out: as it is stored
	Actor    job.Actor
	Most     int    // calendars that the tenant may have; 0: the default
	IsCopy   bool   // of a calendar that another shard has taken, which has decided by the quota; Most means nothing
	Detail   string // for the audit log
	// IfVersion is the version that the calendar must have, and 0 if there must be none; nil: any.
	IfVersion *uint32

	Created bool // result
}

// Bytes implements [Proposal].
func (p *PutCalendar) Bytes() int {
	n := 2*proposalBytes + len(p.Calendar.Description)
	for _, line := range p.Calendar.Exclude {
		n += len(line) + 4
	}
	return n
}

// DeleteCalendar deletes a calendar.
type DeleteCalendar struct {
	Handled
	Tenant, Name string
	Actor        job.Actor
	Detail       string  // for the audit log
	IfVersion    *uint32 // the version that the calendar must have; nil: any
}

// Bytes implements [Proposal].
func (p *DeleteCalendar) Bytes() int { return proposalBytes }

// calendarRef returns the name under which schedules refer to a calendar. A tenant contains no slash, so no two
// calendars share a reference.
func calendarRef(tenant, name string) string { return tenant + "/" + name }

// calendarOf returns a calendar by its reference. It is the lookup with which schedules are compiled. It reads memory
// only, because schedules are compiled within steps too.
func (c *Core) calendarOf(ref string) (exclude []string, ok bool) {
	if cal := c.calendars[ref]; cal != nil {
		return cal.Exclude, true
	}
	return nil, false
}

// putCalendar replaces a calendar and has the schedules that refer to it compiled before their next use, so that jobs
// registered from here on use it. Moving the cursors of the other jobs would make the step as long as there are jobs: see replan.
func (c *Core) putCalendar(p *PutCalendar) {
	cal := &p.Calendar
	ref := calendarRef(cal.Tenant, cal.Name)
	old := c.calendars[ref]
	if p.Err = checkVersion(old, p.IfVersion); p.Err != nil {
		return
	}
	if old == nil {
		if p.Err = c.checkCalendars(p); p.Err != nil {
			return
		}
	}
	cal.Version, cal.UpdatedAt = 1, c.now
	if p.Created = old == nil; old != nil {
		cal.Version = old.Version + 1
	}
	kept := *cal
	kept.Exclude = slices.Clone(cal.Exclude)
	c.keepCalendar(ref, &kept)
	c.out.Batch.PutCalendar(&kept)
	c.audit(p.Actor, job.ActionPutCalendar, job.AuditEntry{Tenant: cal.Tenant, Name: cal.Name, Detail: p.Detail})
	if list := c.profiles.expire(ref); len(list) > 0 {
		c.profiles.mark(list)
		c.replanSoon()
	}
}

// checkCalendars refuses a further calendar of a tenant, or of the engine. It counts within the step, so two puts at a time
// cannot both take the last place. It visits all calendars, which are few: a count that is kept would have to be right
// after every way in which a calendar comes and goes. A copy has its place by that of the calendar that it is a copy of: one
// shard alone decides by a quota, because others may have a calendar a moment longer.
func (c *Core) checkCalendars(p *PutCalendar) error {
	if p.IsCopy {
		if len(c.calendars) >= copiesMax {
			return apierr.Errorf(apierr.Unavailable, "", "the shard has %d copies of calendars, and no room for more until it has deleted some", copiesMax)
		}
		return nil
	}
	tenant, most := p.Calendar.Tenant, cmp.Or(p.Most, calendarsOfTenantMax)
	has := 0
	for _, cal := range c.calendars {
		if cal.Tenant == tenant {
			has++
		}
	}
	switch {
	case has >= most:
		return apierr.Errorf(apierr.QuotaExceeded, "name", "the tenant %s has %d calendars, and may have %d; delete one, or ask for a higher quota", tenant, has, most)
	case len(c.calendars) >= CalendarsMax:
		return apierr.Errorf(apierr.QuotaExceeded, "name", "all tenants together have %d calendars, and no more are allowed; delete one", CalendarsMax)
	}
	return nil
}

// followCalendars compiles the schedule of a put again if a calendar has changed since the proposer read it. The job
// that the put updates may already follow the newer calendar.
func (c *Core) followCalendars(p *Put) (err error) {
	spec := p.Profile.Spec
	if len(spec.Calendars()) == 0 {
		return nil
	}
	if n := c.profiles.find(&p.Profile); n != 0 {
		e := c.profiles.get(n)
		p.Schedule, err = e.schedule, e.fault()
	} else {
		c.profiles.meter.spent += compileEffort
		p.Schedule, err = c.profiles.rules.Restore(spec, c.calendarOf)
	}
	if err != nil {
		return err
	}
	return p.Schedule.Admit()
}

// deleteCalendar refuses a calendar that is in use. Otherwise the schedules that refer to it could not be compiled at
// the next start, and their jobs would fail.
func (c *Core) deleteCalendar(p *DeleteCalendar) {
	ref := calendarRef(p.Tenant, p.Name)
	if p.Err = checkVersion(c.calendars[ref], p.IfVersion); p.Err != nil {
		return
	}
	switch {
	case c.calendars[ref] == nil:
		p.Err = UnknownCalendar(p.Name)
	case c.profiles.uses(ref):
		p.Err = apierr.Errorf(apierr.VersionConflict, "name", "jobs refer to calendar %q; change or delete them first", p.Name)
	default:
		c.dropCalendar(p.Tenant, p.Name)
		c.out.Batch.DeleteCalendar(p.Tenant, p.Name)
		c.audit(p.Actor, job.ActionDeleteCalendar, job.AuditEntry{Tenant: p.Tenant, Name: p.Name, Detail: p.Detail})
	}
}

// UnknownCalendar returns the error that there is no calendar with a name.
func UnknownCalendar(name string) error {
	return apierr.Errorf(apierr.NotFound, "name", "there is no calendar %q", name)
}

// takeCalendar adds a calendar from its stored row.
func (c *Core) takeCalendar(key, value []byte) error {
	cal, err := job.DecodeCalendar(key, value)
	if err != nil {
		return err
	}
	c.keepCalendar(calendarRef(cal.Tenant, cal.Name), &cal)
	return nil
}

// checkVersion refuses a change of a calendar that has not the demanded version.
func checkVersion(cal *job.Calendar, want *uint32) error {
	has := uint32(0)
	if cal != nil {
		has = cal.Version
	}
	if want == nil || *want == has {
		return nil
	}
	return apierr.Errorf(apierr.VersionConflict, "name", "the calendar has the version %d; want %d", has, *want)
}

// ChangedCalendar is a calendar that was put, or deleted. It never changes.
type ChangedCalendar struct {
	job.Calendar
	Deleted bool // only Tenant and Name are set
}

// ChangedCalendars returns the calendars that were loaded or have changed since its last call, in the order of the changes.
func (c *Core) ChangedCalendars() []*ChangedCalendar {
	list := c.changedCalendars
	c.changedCalendars = nil
	return list
}

// keepCalendar adds or replaces a calendar, which must not change any more.
func (c *Core) keepCalendar(ref string, cal *job.Calendar) {
	c.calendars[ref] = cal
	c.changedCalendars = append(c.changedCalendars, &ChangedCalendar{Calendar: *cal})
}

// dropCalendar forgets a calendar.
func (c *Core) dropCalendar(tenant, name string) {
	delete(c.calendars, calendarRef(tenant, name))
	c.changedCalendars = append(c.changedCalendars, &ChangedCalendar{Calendar: job.Calendar{Tenant: tenant, Name: name}, Deleted: true})
}
