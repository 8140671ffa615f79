package schedule

import (
	"errors"
	"testing"
	"time"

	"github.com/carillon-io/carillon/apierr"
)

// oneCalendar returns a lookup that knows one calendar.
func oneCalendar(lines ...string) CalendarLookup {
	return func(ref string) ([]string, bool) { return lines, ref == "acme/holidays" }
}

// TestCalendarTakesOneOfSeveral accepts a job with a single date among its schedules. Then its calendar leaves the date out: the other
// schedules go on, and only who registers such a job anew is refused.
func TestCalendarTakesOneOfSeveral(t *testing.T) {
	spec := Spec{Expr: "0 8 * * *\n@at 2026-12-13T10:00:00Z", Exclude: "@calendar acme/holidays"}
	if _, err := ParseWith(spec, oneCalendar("2026-12-25")); err != nil {
		t.Fatal(err)
	}
	s, err := EmbeddedZones().Restore(spec, oneCalendar("2026-12-13"))
	if err != nil {
		t.Fatal("the job is not restored:", err)
	}
	if _, err := s.Check(); err != nil {
		t.Error("the job has ticks, and counts as one without:", err)
	}
	if next, _ := s.Next(rfc3339(t, "2026-12-12T09:00:00Z"), 0); next != rfc3339(t, "2026-12-14T08:00:00Z") {
		t.Errorf("the next tick is %s, want that of the 14th", next)
	}
	wantField(t, s.Admit(), apierr.InvalidSchedule, "schedules.1")
	if _, err := ParseWith(spec, oneCalendar("2026-12-13")); err == nil {
		t.Error("a job with an excluded date was accepted")
	}
}

// TestCalendarTakesAll leaves a job nothing.
func TestCalendarTakesAll(t *testing.T) {
	for _, expr := range []string{"@at 2026-12-13T10:00:00Z", "@at 2026-12-13T10:00:00Z\n@at 2026-12-13T11:00:00Z"} {
		s, err := EmbeddedZones().Restore(Spec{Expr: expr, Exclude: "@calendar acme/holidays"}, oneCalendar("2026-12-13"))
		if err != nil {
			t.Fatal(err)
		}
		if _, err := s.Check(); err == nil {
			t.Errorf("%q: a job without a tick counts as one that has some", expr)
		}
	}
}

// TestZoneTakesOneOfSeveral changes the rules of a zone, so that one of two schedules has no tick in the window any more.
func TestZoneTakesOneOfSeveral(t *testing.T) {
	spec := Spec{
		Expr: "15 8 * * *\nCRON_TZ=UTC 20 6 * * *", Zone: "Europe/Berlin",
		StartsAt: rfc3339(t, "2026-07-01T06:00:00Z"), EndsAt: rfc3339(t, "2026-07-01T06:30:00Z"),
	}
	if _, err := Parse(spec); err != nil {
		t.Fatal(err)
	}
	moved := NewZones("moved", "", func(name string) (*time.Location, error) {
		if name == "Europe/Berlin" {
			return time.FixedZone(name, 9*3600), nil
		}
		return EmbeddedZones().Location(name)
	})
	s, err := moved.Restore(spec, nil)
	if err != nil {
		t.Fatal("the job is not restored:", err)
	}
	if _, err := s.Check(); err != nil {
		t.Error(err)
	}
	if next, _ := s.Next(0, 0); next != rfc3339(t, "2026-07-01T06:20:00Z") {
		t.Errorf("the next tick is %s, want that of the other schedule", next)
	}
	wantField(t, s.Admit(), apierr.InvalidSchedule, "schedules.0")
}

// wantField compares the code and the field of an error.
func wantField(t *testing.T, err error, code apierr.Code, field string) {
	t.Helper()
	if e := (*apierr.Error)(nil); !errors.As(err, &e) || e.Code != code || e.Field != field {
		t.Errorf("error %v, want %s of %s", err, code, field)
	}
}

// TestNoTickHasNoInstant searches beyond the last tick of a window, for one schedule and for several: callers take the distance to the
// next tick as a bound, and the end of a window is none.
func TestNoTickHasNoInstant(t *testing.T) {
	end := rfc3339(t, "2026-12-01T08:30:00Z")
	for _, expr := range []string{"0 8 * * *", "0 8 * * *\n15 8 * * *"} {
		s, err := Parse(Spec{Expr: expr, StartsAt: end - 3600_000, EndsAt: end})
		if err != nil {
			t.Fatal(err)
		}
		if next, ok := s.Next(end-60_000, 0); ok || next != 0 {
			t.Errorf("%q: after the last tick comes %s, %t", expr, next, ok)
		}
	}
}
