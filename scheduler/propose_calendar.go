package scheduler

import (
	"context"

	"github.com/carillon-io/carillon/job"
	"github.com/carillon-io/carillon/scheduler/core"
)

// PutCalendar adds a calendar, or replaces the one with the same name; the jobs that refer to it follow soon after. It
// returns the calendar as it is stored, and whether it is new. If the process stops before all of them follow, the
// next leader continues. See also [AsCopy].
func (e *Engine) PutCalendar(ctx context.Context, cal *job.Calendar) (job.Calendar, bool, error) {
	if err := cal.Validate(); err != nil {
		return job.Calendar{}, false, err
	}
	p := &core.PutCalendar{Calendar: *cal, Actor: e.actorOf(ctx), IsCopy: isCopy(ctx)}
	if e.opts.CalendarsMax != nil {
		p.Most = e.opts.CalendarsMax(cal.Tenant)
	}
	if err := e.submit(ctx, p); err != nil {
		return job.Calendar{}, false, err
	}
	return p.Calendar, p.Created, p.Err
}

// DeleteCalendar deletes a calendar that no job refers to. Whether jobs refer to it is checked in the step, so that no
// job can be registered with it in between.
func (e *Engine) DeleteCalendar(ctx context.Context, tenant, name string) error {
	p := &core.DeleteCalendar{Tenant: tenant, Name: name, Actor: e.actorOf(ctx)}
	if err := e.submit(ctx, p); err != nil {
		return err
	}
	return p.Err
}

// Calendar returns a calendar.
func (e *Engine) Calendar(_ context.Context, tenant, name string) (job.Calendar, error) {
	key := job.AppendCalendarKey(nil, tenant, name)
	value, ok, err := e.opts.Store.Get(key)
	if err != nil {
		return job.Calendar{}, err
	}
	if !ok {
		return job.Calendar{}, core.UnknownCalendar(name)
	}
	return job.DecodeCalendar(key, value)
}

// Calendars lists calendars of a tenant in the order of their names, at most limit of them, beginning after a name.
func (e *Engine) Calendars(_ context.Context, tenant, after string, limit int) ([]job.Calendar, error) {
	low := job.AppendCalendarKey(nil, tenant, "")
	high := job.PrefixEnd(low)
	if after != "" {
		low = append(job.AppendCalendarKey(nil, tenant, after), 0)
	}
	var list []job.Calendar
	err := e.opts.Store.Scan(low, high, func(key, value []byte) (bool, error) {
		cal, err := job.DecodeCalendar(key, value)
		list = append(list, cal)
		return len(list) < limit, err
	})
	return list, err
}

// CountCalendars returns how many calendars a tenant has.
func (e *Engine) CountCalendars(tenant string) (n int, err error) {
	low := job.AppendCalendarKey(nil, tenant, "")
	err = e.opts.Store.Scan(low, job.PrefixEnd(low), func([]byte, []byte) (bool, error) {
		n++
		return true, nil
	})
	return n, err
}

// calendarOf reads a calendar by its reference, as the lookup for compiling schedules. A calendar that cannot be read
// counts as missing, so that the schedule is refused.
func (e *Engine) calendarOf(ref string) (exclude []string, ok bool) {
	key := append([]byte{byte(job.KindCalendar)}, ref...)
	for i, c := range key {
		if c == '/' {
			key[i] = 0 // a tenant contains no slash
			break
		}
	}
	value, ok, err := e.opts.Store.Get(key)
	if err != nil || !ok {
		return nil, false
	}
	cal, err := job.DecodeCalendar(key, value)
	return cal.Exclude, err == nil
}
