package api

import (
	"context"

	"github.com/carillon-io/carillon/apierr"
	"github.com/carillon-io/carillon/client"
	"github.com/carillon-io/carillon/job"
	"github.com/carillon-io/carillon/scheduler"
)

// calendarRequest is a calendar as it arrives. found tells a calendar without exclusions, which is allowed, from a
// request that forgot them and would empty the calendar.
type calendarRequest struct {
	job.Calendar
	found bool // it has the member exclude, possibly with an empty list
}

// calendarMembers has no if_version: a put replaces a calendar as a whole, whatever it was.
var calendarMembers = object[calendarRequest]{
	"name":        text(func(q *calendarRequest) *string { return &q.Name }),
	"description": text(func(q *calendarRequest) *string { return &q.Description }),
	"exclude": func(r *reader, q *calendarRequest) error {
		q.found = true
		return lines(job.CalendarLinesMax, func(q *calendarRequest) *[]string { return &q.Exclude })(r, q)
	},
}

// putCalendar adds a calendar or replaces it. Its reply does not wait for the jobs that refer to it, which follow
// soon after.
func (x *Executor) putCalendar(ctx context.Context, tenant string, q *calendarRequest) (any, error) {
	if err := job.ValidateName(q.Name); err != nil {
		return nil, err
	}
	switch {
	case !q.found:
		return nil, apierr.Errorf(apierr.InvalidField, "exclude", "is missing; want a list of what to leave out, such as 2026-12-25")
	case len(q.Description) > job.DescriptionBytesMax:
		return nil, apierr.Errorf(apierr.TooLarge, "description", "has %d bytes; at most %d are allowed", len(q.Description), job.DescriptionBytesMax)
	}
	q.Tenant = tenant
	now, created, err := x.engine.PutCalendar(ctx, &q.Calendar)
	if err != nil {
		return nil, err
	}
	return &client.CalendarPutReply{Calendar: calendarOf(&now), Created: created}, nil
}

// calendar reads a calendar.
func (x *Executor) calendar(ctx context.Context, tenant string, q *client.NameRequest) (any, error) {
	if err := job.ValidateName(q.Name); err != nil {
		return nil, err
	}
	c, err := x.engine.Calendar(ctx, tenant, q.Name)
	if err != nil {
		return nil, err
	}
	return &client.CalendarReply{Calendar: calendarOf(&c)}, nil
}

// removeCalendar deletes a calendar. The engine refuses it while a job refers to it.
func (x *Executor) removeCalendar(ctx context.Context, tenant string, q *client.NameRequest) (any, error) {
	if err := job.ValidateName(q.Name); err != nil {
		return nil, err
	}
	if err := x.engine.DeleteCalendar(ctx, tenant, q.Name); err != nil {
		return nil, err
	}
	return &client.CalendarDeleteReply{Deleted: true}, nil
}

// calendarListMembers has no filter: a tenant has few calendars.
var calendarListMembers = object[client.CalendarListRequest]{
	"limit":  between(1, scheduler.PageMax, func(q *client.CalendarListRequest) *int { return &q.Limit }),
	"cursor": text(func(q *client.CalendarListRequest) *string { return &q.Cursor }),
}

// calendars lists the calendars of a tenant. The engine returns no cursor for them: the name of the last one is the
// place to continue.
func (x *Executor) calendars(ctx context.Context, tenant string, q *client.CalendarListRequest) (any, error) {
	setDefault(&q.Limit, PageDefault)
	page := &calendarPage{query: query{"calendars", tenant}}
	after, err := page.query.key(q.Cursor)
	if err != nil {
		return nil, err
	}
	next := func(n int) ([]client.Calendar, bool, error) {
		got, err := x.engine.Calendars(ctx, tenant, after, n)
		list := make([]client.Calendar, len(got))
		for i := range got {
			list[i] = calendarOf(&got[i])
			// The place moves with the entries, since the page is filled in several steps.
			after = got[i].Name
		}
		// A full answer may have been the last one: the next page is then empty, which callers must expect anyway.
		return list, len(got) == n, err
	}
	var more bool
	if page.Calendars, more, err = fill(q.Limit, calendarStep, x.pageBytesFor(ctx), next, calendarBytes); err != nil {
		return nil, err
	}
	if more {
		page.NextCursor = page.query.cursor(after)
	}
	return page, nil
}

// calendarBytes returns the approximate encoded size of a calendar.
func calendarBytes(c *client.Calendar) int {
	const usual = 150
	n := usual + len(c.Name) + len(c.Description)
	for _, line := range c.Exclude {
		n += len(line) + len(`"",`)
	}
	return n
}

// calendarOf returns a calendar as callers see it. It shares the lines with its argument. The version grows with
// each write, so a caller can see that it did.
func calendarOf(c *job.Calendar) client.Calendar {
	return client.Calendar{
		Name: c.Name, Exclude: c.Exclude, Description: c.Description, Version: c.Version, UpdatedAt: timeOf(c.UpdatedAt),
	}
}
