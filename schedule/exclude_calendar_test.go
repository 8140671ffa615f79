package schedule

import (
	"strings"
	"testing"

	"github.com/carillon-io/carillon/apierr"
)

// someCalendars finds calendars by reference.
func someCalendars(list map[string][]string) CalendarLookup {
	return func(ref string) ([]string, bool) {
		exclude, ok := list[ref]
		return exclude, ok
	}
}

// TestCalendarsAreReadEachTime changes one between two parses of the same text.
func TestCalendarsAreReadEachTime(t *testing.T) {
	spec := Spec{Expr: "0 0 * * *", Exclude: "@calendar acme/holidays"}
	after := rfc3339(t, "2026-12-24T12:00:00Z")
	for _, day := range []string{"2026-12-25", "2026-12-26"} {
		s, err := ParseWith(spec, someCalendars(map[string][]string{"acme/holidays": {day}}))
		if err != nil {
			t.Fatal(err)
		}
		if tick, _ := s.Next(after, 0); tick.String()[:10] == day {
			t.Errorf("%s is a tick", day)
		}
	}
}

func TestParseWithRefuses(t *testing.T) {
	find := someCalendars(map[string][]string{"acme/all": {"* * * * *"}, "acme/broken": {"x"}})
	for _, c := range []struct{ exclude, field, hint string }{
		{"2026-12-25\n@calendar acme/none", "exclude.1", "there is no calendar none"},
		{"@calendar acme/all", "exclude", "leaves no tick"},
		{"@calendar acme/broken", "exclude.0", "calendar broken is not valid: exclude.0: "},
		{"@calendar acme/", "exclude.0", "no name"},
		{"@calendar acme/a b", "exclude.0", "no name"},
	} {
		_, err := ParseWith(Spec{Expr: "0 8 * * *", Exclude: c.exclude}, find)
		if e := apierr.From(err); e.Code != apierr.InvalidSchedule || e.Field != c.field || !strings.Contains(e.Message, c.hint) {
			t.Errorf("%q: %v; want %q on %s", c.exclude, err, c.hint, c.field)
		}
	}
}
