package api

import "github.com/carillon-io/carillon/client"

// page is a reply that can be cut shorter: the caller asks for the rest with its cursor.
type page interface {
	// shrink leaves something out, and tells whether it found anything.
	shrink() bool
}

// shrink leaves something out of a reply that is too large for one message, if that is possible.
func shrink(reply any) bool {
	p, ok := reply.(page)
	return ok && p.shrink()
}

// half cuts a list to its first half. A list of one is left as it is.
func half[T any](list *[]T) bool {
	if len(*list) < 2 {
		return false
	}
	*list = (*list)[:len(*list)/2]
	return true
}

// runPage is a page of runs.
type runPage struct {
	client.RunPage
	query query
}

func (p *runPage) shrink() bool {
	if !half(&p.Runs) {
		return false
	}
	p.NextCursor = p.query.cursor(p.Runs[len(p.Runs)-1].RunID)
	return true
}

// calendarPage is a page of calendars.
type calendarPage struct {
	client.CalendarPage
	query query
}

func (p *calendarPage) shrink() bool {
	if !half(&p.Calendars) {
		return false
	}
	p.NextCursor = p.query.cursor(p.Calendars[len(p.Calendars)-1].Name)
	return true
}
