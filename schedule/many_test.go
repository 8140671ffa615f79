package schedule

import (
	"fmt"
	"strings"
	"testing"

	"github.com/carillon-io/carillon/apierr"
)

func TestManyCanonical(t *testing.T) {
	for _, c := range []struct{ expr, zone, want string }{
		{"0  8 * * *\n@daily", "", "0 8 * * *\n0 0 * * *"},
		{"CRON_TZ=Asia/Tokyo 0 8 * * *\nTZ=UTC 0 9 * * *\n0 7 * * MON", "Europe/Berlin", "CRON_TZ=Asia/Tokyo 0 8 * * *\nCRON_TZ=UTC 0 9 * * *\n0 7 * * 1"},
		{"CRON_TZ=Europe/Berlin 0 8 * * *\n@every 90s\nTZ=Asia/Tokyo @at 2026-12-01T08:00:00Z", "Europe/Berlin", "0 8 * * *\n@every 1m30s\n@at 2026-12-01T08:00:00.000Z"},
		{"TZ=UTC 0 8 * * *\n0 9 * * *", "UTC", "0 8 * * *\n0 9 * * *"},
	} {
		s := mustSchedule(t, c.expr, c.zone)
		if s.Kind() != Many || s.At() != 0 || s.Interval() != 0 || s.Spec().Expr != c.want {
			t.Errorf("%q: kind %d, canonical %q, want %q", c.expr, s.Kind(), s.Spec().Expr, c.want)
		}
		if again, err := Parse(s.Spec()); err != nil || again.Spec() != s.Spec() {
			t.Errorf("%q: the canonical text does not parse to itself: %+v, %v", c.expr, again, err)
		}
	}
}

func TestManyRefused(t *testing.T) {
	at := rfc3339(t, "2026-12-01T08:00:00Z")
	refused{Spec{Expr: "0 8 * * *\n"}, "empty"}.check(t, apierr.InvalidSchedule, "schedules.1")
	refused{Spec{Expr: "0 8 * * *\n0 25 * * *"}, "hour|25"}.check(t, apierr.InvalidSchedule, "schedules.1")
	refused{Spec{Expr: "\n0 8 * * *"}, "empty"}.check(t, apierr.InvalidSchedule, "schedules.0")
	refused{Spec{Expr: "0 8 * * *\nCRON_TZ=Mars/Phobos 0 8 * * *"}, "IANA"}.check(t, apierr.InvalidTimezone, "schedules.1")
	refused{Spec{Expr: "0 8 * * *\n0 9 * * *", Zone: "Mars/Phobos"}, "IANA"}.check(t, apierr.InvalidTimezone, "timezone")
	refused{Spec{Expr: "0 8 * * *\n0 9 * * *", StartsAt: -1}, "out of range"}.check(t, apierr.InvalidField, "starts_at")
	refused{Spec{Expr: "0 8 * * *\n@yearly", StartsAt: at, EndsAt: at + 2*daySeconds*1000}, "no tick between"}.check(t, apierr.InvalidSchedule, "schedules.1")
	refused{Spec{Expr: "@at 2026-12-01T08:00:00Z\n@at 2026-12-02T08:00:00Z", EndsAt: at + 1}, "never run"}.check(t, apierr.InvalidSchedule, "schedules.1")
	refused{Spec{Expr: strings.Repeat("0 8 * * *\n", 16) + "0 8 * * *"}, "17|16"}.check(t, apierr.TooLarge, "schedules")
}

// TestManyTicks joins expressions of all kinds.
func TestManyTicks(t *testing.T) {
	s, err := Parse(Spec{
		Expr:     "@at 2026-12-01T10:00:00Z\n0 8 * * *\n@every 12h\nCRON_TZ=Asia/Tokyo 0 17 * * *\n@at 2026-12-01T07:59:59.5Z",
		StartsAt: rfc3339(t, "2026-12-01T07:00:00Z"),
	})
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	times, _, _ := s.Preview(t.Context(), 0, 12345, 6)
	for _, tick := range times {
		got = append(got, tick.String()[8:19])
	}
	// 17:00 in Tokyo is 08:00, which is one tick; the @every counts from starts_at.
	if want := "[01T07:00:00 01T07:59:59 01T08:00:00 01T10:00:00 01T19:00:00 02T07:00:00]"; fmt.Sprint(got) != want {
		t.Errorf("ticks %v, want %s", got, want)
	}
	if tick, ok := s.Latest(0, rfc3339(t, "2026-12-01T18:59:59Z"), 0); !ok || tick != rfc3339(t, "2026-12-01T10:00:00Z") {
		t.Errorf("latest is %s, %t", tick, ok)
	}
}

// TestManyNotes checks that each change is noted once, in the order of time.
func TestManyNotes(t *testing.T) {
	s := mustSchedule(t, "30 2 * * *\nCRON_TZ=Europe/Berlin 30 2 * * *\n30 2 * * 0\n30 3 * * *", "America/New_York")
	_, notes, _ := s.Preview(t.Context(), rfc3339(t, "2026-03-01T00:00:00Z"), 0, 100)
	if len(notes) != 2 || !strings.Contains(notes[0], "America/New_York") || !strings.Contains(notes[1], "Europe/Berlin") {
		t.Errorf("notes %q", notes)
	}
	for exclude, n := range map[string]int{"2026-03-08": 0, "* 2 * * *": 2, "* 3 * * *": 0, "2026-03-08T07:00:00Z/2026-03-08T07:00:01Z": 0} {
		s, err := Parse(Spec{Expr: "30 2 * * *", Zone: "America/New_York", Exclude: exclude})
		if err != nil {
			t.Fatal(err)
		}
		if _, notes, _ := s.Preview(t.Context(), rfc3339(t, "2026-03-07T00:00:00Z"), 0, 2); len(notes) != n {
			t.Errorf("without %s: notes %q, want %d", exclude, notes, n)
		}
	}
}
