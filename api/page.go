package api

import "github.com/carillon-io/carillon/client"

// page is a reply that can be made shorter: the caller asks for the rest with its cursor. A shorter page is no error
// to the caller: limit is an upper bound, and next_cursor leads to what is missing.
type page interface {
	// shrink leaves out a part, and reports whether there was a part to leave out.
	shrink() bool
}

// shrink leaves out a part of a reply that is too large for one message, and reports whether that was possible.
func shrink(reply any) bool {
	p, ok := reply.(page)
	return ok && p.shrink()
}

// half cuts a list to its first half, and reports whether it did. A list of one stays. Halving ends after a few
// rounds whatever the sizes are, while cutting entry by entry could encode a page a thousand times.
func half[T any](list *[]T) bool {
	if len(*list) < 2 {
		return false
	}
	*list = (*list)[:len(*list)/2]
	return true
}

// fill reads a page step by step, until it reaches the limit, the list ends, or the page reaches its largest size. So
// memory holds at most the largest page and one step. read returns the next items and whether more follow; it may
// return fewer than asked for only at the end. size returns the approximate encoded size of an item. fill reports
// whether more items follow. The sizes are estimates, which may be wrong by some percent: encode has the last word
// and shrinks the page.
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

// How many items are read at a time for a page. At their largest size they are a few MiB.
const (
	runStep      = 128 // with a hundred attempts each
	auditStep    = 40  // with two definitions each
	calendarStep = 16  // with a thousand lines each
)

// runPage is a page of runs. query makes the cursor again when the page is cut.
type runPage struct {
	client.RunPage
	query query
}

// shrink implements page. The cursor is that after the last run that stays, so the caller gets the others with the
// next page.
func (p *runPage) shrink() bool {
	if !half(&p.Runs) {
		return false
	}
	p.NextCursor = p.query.cursor(p.Runs[len(p.Runs)-1].RunID)
	return true
}

// calendarPage is a page of calendars. query makes the cursor again when the page is cut.
type calendarPage struct {
	client.CalendarPage
	query query
}

// shrink implements page.
func (p *calendarPage) shrink() bool {
	if !half(&p.Calendars) {
		return false
	}
	p.NextCursor = p.query.cursor(p.Calendars[len(p.Calendars)-1].Name)
	return true
}
