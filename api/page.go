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

// fill reads a page step by step until it has its limit, the list ends, or what was read is as long as a page may be:
// no more is in memory than the longest page and one step. Read returns the next items and whether there are more
// behind them, fewer than asked for only if it does not go on by itself; size says about how long an item is when it
// is written. Fill tells whether there are more.
func fill[T any](limit, step, most int, read func(n int) ([]T, bool, error), size func(*T) int) (list []T, more bool, err error) {
	list = make([]T, 0, min(limit, step))
	for bytes := 0; ; {
		n := min(step, limit-len(list))
		got, more, err := read(n)
		if err != nil {
			return nil, false, err
		}
		for i := range got {
			bytes += size(&got[i])
		}
		list = append(list, got...)
		if !more || len(got) < n || len(list) == limit || bytes >= most {
			return list, more, nil
		}
	}
}

// How many items are read at a time for a page: as long as they can get, they are a few MiB.
const (
	runStep      = 128 // with a hundred attempts each
	auditStep    = 40  // with two definitions each
	calendarStep = 16  // with a thousand lines each
)

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
