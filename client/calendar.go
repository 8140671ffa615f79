package client

import (
	"context"
	"iter"
)

// Calendar is a named list of exclusions that any number of jobs can share: a job refers to it in its
// Exclude as "@calendar NAME".
type Calendar struct {
	Name        string   `json:"name"`
	Exclude     []string `json:"exclude"` // as in [Job], but without references to calendars
	Description string   `json:"description"`
	Version     uint32   `json:"version"` // number of puts of this calendar, from 1
	UpdatedAt   Time     `json:"updated_at"`
}

// CalendarRequest asks to add a calendar, or to replace the one with the same name. There is no version to demand:
// a put replaces the whole calendar.
type CalendarRequest struct {
	Name        string   `json:"name"`
	Exclude     []string `json:"exclude"`
	Description string   `json:"description,omitempty"`
}

// CalendarReply answers a request for a calendar.
type CalendarReply struct {
	Calendar Calendar `json:"calendar"`
}

// CalendarPutReply answers a [CalendarRequest].
type CalendarPutReply struct {
	Calendar Calendar `json:"calendar"`
	Created  bool     `json:"created"`
}

// CalendarDeleteReply answers a request to delete a calendar.
type CalendarDeleteReply struct {
	Deleted bool `json:"deleted"`
}

// CalendarListRequest lists calendars in the order of their names.
type CalendarListRequest struct {
	Limit  int    `json:"limit,omitzero"`   // 1 to 1000; default 100
	Cursor string `json:"cursor,omitempty"` // of the page before
}

// CalendarPage is one page of calendars. As with [JobPage], a page may be short or empty before the end.
type CalendarPage struct {
	Calendars  []Calendar `json:"calendars"`
	NextCursor string     `json:"next_cursor,omitempty"`
}

// PutCalendar adds a calendar, or replaces the one with the same name; the jobs that refer to it follow
// the new list within moments. It returns the calendar, and whether it is new.
func (c *Client) PutCalendar(ctx context.Context, request CalendarRequest) (Calendar, bool, error) {
	if request.Exclude == nil {
		request.Exclude = []string{}
	}
	reply, err := ask[CalendarPutReply](ctx, c, "calendars.put", request)
	return reply.Calendar, reply.Created, err
}

// Calendar returns a calendar. If there is none with this name, [IsNotFound] holds for the error.
func (c *Client) Calendar(ctx context.Context, name string) (Calendar, error) {
	reply, err := ask[CalendarReply](ctx, c, "calendars.get", NameRequest{Name: name})
	return reply.Calendar, err
}

// ListCalendars returns one page of calendars, in the order of their names.
func (c *Client) ListCalendars(ctx context.Context, request CalendarListRequest) (CalendarPage, error) {
	return ask[CalendarPage](ctx, c, "calendars.list", request)
}

// Calendars iterates over all calendars, as [Client.Jobs] does over jobs.
func (c *Client) Calendars(ctx context.Context, request CalendarListRequest) iter.Seq2[Calendar, error] {
	return pages(request.Cursor, func(cursor string) ([]Calendar, string, error) {
		request.Cursor = cursor
		page, err := c.ListCalendars(ctx, request)
		return page.Calendars, page.NextCursor, err
	})
}

// DeleteCalendar deletes a calendar. The server refuses to delete one that jobs refer to.
func (c *Client) DeleteCalendar(ctx context.Context, name string) error {
	_, err := ask[CalendarDeleteReply](ctx, c, "calendars.delete", NameRequest{Name: name})
	return err
}
