package dashboard

import (
	"fmt"
	"strings"
	"time"

	"github.com/carillon-io/carillon/client"
)

// typedIn is the field of a form that says in which zone its times are. It is written with the times, because the reader
// may choose another zone before the form is sent, and a link leads others to the same times.
const typedIn = "times_in"

// typed reads the instants of a form. get returns the text of a field.
type typed struct {
	get func(field string) string
	in  clock // in which times without an offset are
	err error // in is not what the form says
}

// typed returns the reader of the instants of a form. Without a word about the zone, times are in UTC.
func (d *Dashboard) typed(get func(string) string) typed {
	in, err := d.clockNamed(get(typedIn))
	if err != nil {
		err = invalid(typedIn, "%q is no timezone; want UTC, or a name such as Europe/Berlin", clip(get(typedIn)))
	}
	return typed{get, in, err}
}

// The notations of an instant in forms: those that users may type, and those that browsers send.
var (
	exactLayouts = []string{time.RFC3339Nano, "2006-01-02T15:04Z07:00"}
	wallLayouts  = []string{"2006-01-02T15:04:05.999999999", "2006-01-02T15:04", "2006-01-02 15:04:05", "2006-01-02 15:04", time.DateOnly}
)

// instant parses an instant; an empty field gives the zero Time.
func (t typed) instant(field string) (client.Time, error) {
	text := t.get(field)
	if text == "" {
		return client.Time{}, nil
	}
	if t.err != nil {
		return client.Time{}, t.err
	}
	for _, layout := range exactLayouts {
		if at, err := time.Parse(layout, strings.ToUpper(text)); err == nil {
			return client.At(at), nil
		}
	}
	for _, layout := range wallLayouts {
		if wall, err := time.Parse(layout, strings.ToUpper(text)); err == nil {
			at, err := t.in.instant(wall, layout == time.DateOnly, field == "to")
			if err != nil {
				return client.Time{}, invalid(field, "%q %v", clip(text), err)
			}
			return client.At(at), nil
		}
	}
	return client.Time{}, invalid(field, "%q is not a time; want one in %s such as 2026-12-01T08:00, or with an offset", clip(text), t.in.name)
}

// instant returns the instant of a time on the wall, which is given as one in UTC. Where the clock is put back, a time comes
// twice: it is the later one for the end of a range, and else the earlier one, so that a range has all that it names. Where
// the clock is put forward, a time does not exist, save that a day begins when the clock goes on.
func (c clock) instant(wall time.Time, isDay, later bool) (time.Time, error) {
	// The offsets of the day before and of the day after; no zone changes more often.
	_, before := wall.AddDate(0, 0, -1).In(c.loc).Zone()
	_, after := wall.AddDate(0, 0, 1).In(c.loc).Zone()
	early, late := wall.Add(-time.Duration(before)*time.Second), wall.Add(-time.Duration(after)*time.Second)
	if late.Before(early) {
		early, late = late, early
	}
	isOn := func(at time.Time) bool { return at.In(c.loc).Format(time.DateTime) == wall.Format(time.DateTime) }
	switch {
	case later && isOn(late), !isOn(early) && isOn(late), !isOn(early) && isDay:
		return late, nil
	case isOn(early):
		return early, nil
	}
	return early, fmt.Errorf("does not exist in %s, where the clock was put forward; want a time from %s on", c.name, late.In(c.loc).Format("2006-01-02T15:04"))
}

// ends parses the two ends of a range, in the fields from and to. Either may be empty.
func (t typed) ends() (from, to client.Time, err error) {
	if from, err = t.instant("from"); err == nil {
		to, err = t.instant("to")
	}
	return from, to, err
}

// shown returns an instant in the notation of a browser's datetime field, by a clock. A text that is not an instant gives "",
// because browsers show nothing else. Fractions of a second are dropped, because the field of a browser has none by default.
func (t typed) shown(field string, by clock) string {
	at, err := t.instant(field)
	if err != nil || at.IsZero() {
		return ""
	}
	return at.In(by.loc).Format("2006-01-02T15:04:05")
}

// exact returns an instant as a confirmation carries it: with its offset and its fractions, since what was previewed is what
// is to be done, and a wall time may come twice. A text that is not an instant gives "".
func (t typed) exact(field string) string {
	at, err := t.instant(field)
	if err != nil || at.IsZero() {
		return ""
	}
	return at.UTC().Format(time.RFC3339Nano)
}
