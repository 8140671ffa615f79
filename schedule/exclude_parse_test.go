package schedule

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/carillon-io/carillon/apierr"
)

func TestExclusionsCanonical(t *testing.T) {
	for _, c := range []struct{ spec, want Spec }{
		{Spec{Expr: "0 8 * * *", Exclude: " 2026-12-25 "}, Spec{Expr: "0 8 * * *", Exclude: "2026-12-25"}},
		{Spec{Expr: "0 8 * * *", Exclude: "2026-12-25/2026-12-25"}, Spec{Expr: "0 8 * * *", Exclude: "2026-12-25"}},
		{
			Spec{Expr: "CRON_TZ=Asia/Tokyo 0 8 * * *", Exclude: "2026-12-24/2026-12-26\n* 8 * * SAT,sun"},
			Spec{Expr: "0 8 * * *", Zone: "Asia/Tokyo", Exclude: "2026-12-24/2026-12-26\n* 8 * * 6,0"},
		},
		{
			Spec{Expr: "@daily", Exclude: "2026-12-24T19:00:00+01:00/2026-12-27T06:00:00.0001Z"},
			Spec{Expr: "0 0 * * *", Exclude: "2026-12-24T18:00:00.000Z/2026-12-27T06:00:00.001Z"},
		},
		{Spec{Expr: "@every 1h", Zone: "Asia/Tokyo", Exclude: "* 5 8 * *  ?"}, Spec{Expr: "@every 1h", Zone: "Asia/Tokyo", Exclude: "5 8 * * *"}},
		{Spec{Expr: "@every 1h", Exclude: "0 5 8 * * *\n* 5 8 * * * 2027\n30 5 8 L * fri#1 *"}, Spec{Expr: "@every 1h", Exclude: "0 5 8 * * *\n* 5 8 * * * 2027\n30 5 8 L * 5#1"}},
		{
			Spec{Expr: "@at 2026-12-01T08:00:00Z", Zone: "Asia/Tokyo", Exclude: "2026-12-25"},
			Spec{Expr: "@at 2026-12-01T08:00:00.000Z", Zone: "Asia/Tokyo", Exclude: "2026-12-25"},
		},
	} {
		s, err := Parse(c.spec)
		if err != nil {
			t.Errorf("%+v: %v", c.spec, err)
			continue
		}
		if s.Spec() != c.want {
			t.Errorf("%+v: canonical %+v, want %+v", c.spec, s.Spec(), c.want)
		}
		if again, err := Parse(s.Spec()); err != nil || again.Spec() != s.Spec() {
			t.Errorf("%+v: the canonical text does not parse to itself: %+v, %v", c.spec, again, err)
		}
	}
}

func TestExclusionsRefused(t *testing.T) {
	for line, hints := range map[string]string{
		" ": "empty", "2026-13-01": "no date", "2026-02-29": "no date", "1969-12-31": "1970 on", "2026-1-1": "not understood|2026-12-25",
		"2026-12-26/2026-12-24": "before it begins|want 2026-12-24/2026-12-26", "2026-12-24/2026-02-30": "no date", "2026-12-24/P2D": "not understood",
		"2026-12-24T00:00:00Z": "not understood", "2026-12-24T00:00:00Z/2026-12-26": "not understood", "2026-12-24T00:00:00/2026-12-26T00:00:00": "RFC 3339",
		"2026-12-24T00:00:00Z/2026-12-24T00:00:00Z": "no instant", "2026-12-24T00:00:00Z/2026-12-23T00:00:00Z": "no instant",
		"* * * *": "4|want 5", "* * * * 8": "day of week|want 0-6", "* * 30 2 *": "never", "CRON_TZ=UTC * * * * *": "timezone", "@daily": "cron expression", "@every 1h": "cron expression",
		"@at 2026-12-01T08:00:00Z": "cron expression", "@calendar holidays": "no calendar here", "@calendar": "no name", "@calendar a b": "no name", "@calendars x": "cron expression",
		"é": "ASCII", strings.Repeat("x", 257): "257", "holidays": "not understood", "saturday": "not understood",
	} {
		refused{Spec{Expr: "0 8 * * *", Exclude: line}, hints}.check(t, apierr.InvalidSchedule, "exclude.0")
		refused{Spec{Expr: "0 8 * * *\n0 9 * * *", Exclude: "2026-12-25\n" + line}, hints}.check(t, apierr.InvalidSchedule, "exclude.1")
	}
	refused{Spec{Expr: "0 8 * * *", Exclude: strings.Repeat("2026-12-25\n", 64) + "2026-12-25"}, "65|64|calendar"}.check(t, apierr.TooLarge, "exclude")
	refused{Spec{Expr: "@at 2026-12-25T08:00:00Z", Exclude: "2026-12-25"}, "excluded|never run"}.check(t, apierr.InvalidSchedule, "schedule")
	refused{Spec{Expr: "0 8 * * *\n@at 2026-12-25T08:00:00Z", Exclude: "2026-12-25"}, "excluded"}.check(t, apierr.InvalidSchedule, "schedules.1")
	refused{Spec{Expr: "@every 1h", Zone: "Mars/Phobos", Exclude: "2026-12-25"}, "IANA"}.check(t, apierr.InvalidTimezone, "timezone")
	end := rfc3339(t, "2026-12-27T00:00:00Z")
	refused{Spec{Expr: "0 8 * * *", StartsAt: end - 3*daySeconds*1000, EndsAt: end, Exclude: "2026-12-24/2026-12-26"}, "no tick of the schedule until 2026-12-27"}.check(t, apierr.InvalidSchedule, "exclude")
}

// TestExclusionsAreHalfOpen looks at the two ends of each kind of exclusion.
func TestExclusionsAreHalfOpen(t *testing.T) {
	for _, c := range []struct{ zone, exclude, first, last, before, after string }{
		{"", "2026-12-25", "2026-12-25T00:00:00Z", "2026-12-25T23:59:59.999Z", "2026-12-24T23:59:59.999Z", "2026-12-26T00:00:00Z"},
		{"Asia/Tokyo", "2026-12-24/2026-12-25", "2026-12-23T15:00:00Z", "2026-12-25T14:59:59.999Z", "2026-12-23T14:59:59.999Z", "2026-12-25T15:00:00Z"},
		{"America/New_York", "2026-11-01", "2026-11-01T04:00:00Z", "2026-11-02T04:59:59.999Z", "2026-11-01T03:59:59.999Z", "2026-11-02T05:00:00Z"}, // 25 hours
		{"", "2026-12-24T18:00:00.5Z/2026-12-27T06:00:00Z", "2026-12-24T18:00:00.5Z", "2026-12-27T05:59:59.999Z", "2026-12-24T18:00:00.499Z", "2026-12-27T06:00:00Z"},
		{"Europe/Berlin", "30 8 * * *", "2026-12-24T07:30:00Z", "2026-12-24T07:30:59.999Z", "2026-12-24T07:29:59.999Z", "2026-12-24T07:31:00Z"},
		{"Europe/Berlin", "5 30 8 * * *", "2026-12-24T07:30:05Z", "2026-12-24T07:30:05.999Z", "2026-12-24T07:30:04.999Z", "2026-12-24T07:30:06Z"},
		{"Europe/Berlin", "* * 24-26 12 *", "2026-12-23T23:00:00Z", "2026-12-26T22:59:59.999Z", "2026-12-23T22:59:59.999Z", "2026-12-26T23:00:00Z"},
	} {
		s, err := Parse(Spec{Expr: "@every 10ms", Zone: c.zone, Exclude: c.exclude})
		if err != nil {
			t.Errorf("%s: %v", c.exclude, err)
			continue
		}
		for text, want := range map[string]bool{c.first: false, c.last: false, c.before: true, c.after: true} {
			at := rfc3339(t, text)
			if tick, ok := s.Next(at-1, at); ok && tick == at != want {
				t.Errorf("%s in %q: %s is a tick: %t, want %t", c.exclude, c.zone, at, !want, want)
			}
		}
		last := rfc3339(t, c.last)
		if tick, ok := s.Latest(0, last, last); !ok || tick >= rfc3339(t, c.first) || tick < rfc3339(t, c.before)-10 {
			t.Errorf("%s: the latest tick before is %s, %t", c.exclude, tick, ok)
		}
	}
}

// TestKeptDoesNotAllocate holds for all that exclusions do to all kinds.
func TestKeptDoesNotAllocate(t *testing.T) {
	for _, expr := range []string{"*/5 * * * *", "30 2 * * *", "@every 1h", "@every 1h\n0 8 L * *\nCRON_TZ=Asia/Tokyo 0 8 * * *"} {
		s, err := Parse(Spec{Expr: expr, Zone: "America/New_York", Exclude: "2026-03-07/2026-03-09\n* * * * 0\n*/2 1 * * *\n2026-03-12T00:00:00Z/2026-03-13T00:00:00Z"})
		if err != nil {
			t.Fatal(err)
		}
		after := rfc3339(t, "2026-03-08T06:59:00Z")
		if n := testing.AllocsPerRun(100, func() { s.Next(after, 0); s.Latest(after-100_000_000, after, 0) }); n != 0 {
			t.Errorf("%q: %v allocations", expr, n)
		}
	}
}

// TestLatestBeforeNothing asks for the last tick where none is to come any more: it must not search the
// future each time it bisects.
func TestLatestBeforeNothing(t *testing.T) {
	for _, expr := range []string{"0 * * * *", "@every 1h", "0 8 * * *\nCRON_TZ=Asia/Tokyo 0 9 * * *"} {
		s, err := Parse(Spec{Expr: expr, Zone: "America/New_York", Exclude: "* * * * * * 2027-2199\n2199-12-31/9999-12-31"})
		if err != nil {
			t.Fatal(err)
		}
		start := time.Now()
		upto := rfc3339(t, "2030-06-01T00:00:00Z")
		tick, ok := s.Latest(rfc3339(t, "2020-01-01T00:00:00Z"), upto, 0)
		if took := time.Since(start); !ok || tick.String()[:10] != "2026-12-31" && tick.String()[:10] != "2027-01-01" || took > 500*time.Millisecond {
			t.Errorf("%q: latest tick is %s, %t, after %s", expr, tick, ok, took)
		}
		if next, ok := s.Next(upto, 0); ok {
			t.Errorf("%q: next tick is %s", expr, next)
		}
	}
}

// ExampleSpec_Calendars shows which calendars a spec refers to.
func ExampleSpec_Calendars() {
	s := Spec{Expr: "0 8 * * 1-5", Exclude: "2026-12-31\n@calendar acme/holidays\n@calendar acme/eu/berlin"}
	fmt.Println(s.Calendars())
	// Output: [acme/holidays acme/eu/berlin]
}
