package scheduler

import (
	"context"
	"maps"
	"slices"

	"github.com/carillon-io/carillon/job"
	"github.com/carillon-io/carillon/scheduler/core"
)

// Of a cluster with several shards, one has the true calendars, and the others have copies. Whoever compares them reads all
// calendars of two engines, which may stand by, so the engine keeps a table of them that readers share with no step.

// CalendarName is a calendar of a tenant.
type CalendarName struct{ Tenant, Name string }

// calendarCopies are the calendars of an engine as of its last step. The lock of the gauge guards them.
type calendarCopies struct {
	byName  map[CalendarName]*job.Calendar // the calendars never change
	changes uint64
}

// note takes what has changed.
func (c *calendarCopies) note(list []*core.ChangedCalendar) {
	if c.byName == nil {
		c.byName = make(map[CalendarName]*job.Calendar)
	}
	c.changes += uint64(len(list))
	for _, cal := range list {
		if name := (CalendarName{cal.Tenant, cal.Name}); cal.Deleted {
			delete(c.byName, name)
		} else {
			c.byName[name] = &cal.Calendar
		}
	}
}

// CalendarChanges returns a number that grows with each change of a calendar. It is safe for concurrent use, and does not wait
// for a step.
func (e *Engine) CalendarChanges() uint64 {
	e.gauge.mu.Lock()
	defer e.gauge.mu.Unlock()
	return e.gauge.copies.changes
}

// AllCalendars returns the calendars of all tenants, and the number of CalendarChanges to which they belong. They must not be
// changed. An engine that stands by has them too. It is safe for concurrent use, and does not wait for a step.
func (e *Engine) AllCalendars() (all map[CalendarName]*job.Calendar, changes uint64) {
	e.gauge.mu.Lock()
	defer e.gauge.mu.Unlock()
	return maps.Clone(e.gauge.copies.byName), e.gauge.copies.changes
}

// copyKey is the context key of a put of a copy.
type copyKey struct{}

// AsCopy returns a context in which [Engine.PutCalendar] puts a copy of a calendar that the shard with the true calendars has
// taken: that shard has decided by the quota of the tenant, and this one does not.
func AsCopy(ctx context.Context) context.Context { return context.WithValue(ctx, copyKey{}, true) }

func isCopy(ctx context.Context) bool {
	is, _ := ctx.Value(copyKey{}).(bool)
	return is
}

// calendarDetail marks a change by MendCalendar or DropCalendar in the audit log.
const calendarDetail = "as in shard 0"

// MendCalendar makes a copy of a calendar like the true one. The copy must have the version had, and 0 means that there is none;
// otherwise the error has the code version_conflict, and nothing has changed. No quota counts: the copy has its place by that of
// the true calendar. The audit log has the change as one of the engine.
func (e *Engine) MendCalendar(ctx context.Context, truth *job.Calendar, had uint32) error {
	p := &core.PutCalendar{Calendar: *truth, Actor: job.ActorEngine, Detail: calendarDetail, IsCopy: true, IfVersion: &had}
	p.Calendar.Exclude = slices.Clone(truth.Exclude)
	if err := e.submit(ctx, p); err != nil {
		return err
	}
	return p.Err
}

// DropCalendar deletes the copy of a calendar that is deleted. It is refused as [Engine.DeleteCalendar] is while a job refers to
// the copy; for the rest it is like MendCalendar.
func (e *Engine) DropCalendar(ctx context.Context, name CalendarName, had uint32) error {
	p := &core.DeleteCalendar{Tenant: name.Tenant, Name: name.Name, Actor: job.ActorEngine, Detail: calendarDetail, IfVersion: &had}
	if err := e.submit(ctx, p); err != nil {
		return err
	}
	return p.Err
}
