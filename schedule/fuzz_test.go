package schedule

import (
	"errors"
	"testing"

	"github.com/carillon-io/carillon/apierr"
	"github.com/carillon-io/carillon/instant"
)

// FuzzParse throws any text at the parser. What it accepts must be a schedule: with a canonical
// text, and with ticks that only go forward.
func FuzzParse(f *testing.F) {
	for _, expr := range []string{
		"*/5 * * * *", "0 0 8 * * 1-5", "0 0 29 2 *", "0 8 ? jan-mar,DEC 5-7", "@daily", "@every 1d12h", "@at 2026-12-01T08:00:00.0001+01:00",
		"CRON_TZ=America/New_York 30 2 * * *", "TZ=UTC", "TZ=", "0 0 30 2 *", "0 0 L * 5#3", "0 0 1,15,L,L-3,LW,31W * *", "0 0 * * mon#1,5L", "0 0 8 1 1 ? 2027-2199/3,1970", "0 8 * * *\nCRON_TZ=Asia/Tokyo 0 9 * * 1-5\n@every 1h\n@at 2026-12-01T08:00:00Z", ",,,", "22-2/7 * * * *", "@every -5m", "0 0 * * 7/2",
	} {
		f.Add(expr, "", "", int64(0), int64(0), int64(0))
		f.Add(expr, "2026-12-24/2026-12-26\n* * * * 6", "Australia/Lord_Howe", int64(1_790_000_000_000), int64(17), int64(1_800_000_000_000))
	}
	for _, exclude := range []string{
		"2026-12-24T18:00:00Z/2026-12-27T06:00:00+01:00", "*/2 * * * *\n1/2 * * * *", "* * L * 5#3", "0 0 0 1 1 ? 2027", "@calendar acme/x", "1970-01-01/9999-12-31", "2026-02-30", "/", "T/T",
	} {
		f.Add("*/5 1-3 * * *", exclude, "America/New_York", int64(1_790_000_000_000), int64(17), int64(0))
	}
	f.Fuzz(func(t *testing.T, expr, exclude, zone string, after, anchor, startsAt int64) {
		s, err := Parse(Spec{Expr: expr, Exclude: exclude, Zone: zone, StartsAt: instant.Millis(startsAt)})
		if err != nil {
			if e, ok := errors.AsType[*apierr.Error](err); !ok || e.Message == "" || e.Field == "" {
				t.Fatalf("%q: %v is no refusal", expr, err)
			}
			return
		}
		again, err := Parse(s.Spec())
		if err != nil || again.Spec() != s.Spec() {
			t.Fatalf("%q: canonical %+v parses to %v, %v", expr, s.Spec(), again, err)
		}
		checkSchedule(t, s, again, instant.Millis(after), instant.Millis(anchor))
	})
}

// checkSchedule checks what holds for every schedule, and that its canonical text means the same.
func checkSchedule(t *testing.T, s, again *Schedule, after, anchor instant.Millis) {
	t.Helper()
	at := after
	for range 5 {
		tick, ok := s.Next(at, anchor)
		if same, sameOK := again.Next(at, anchor); same != tick || sameOK != ok {
			t.Fatalf("%+v: Next(%d) is %d, the canonical one says %d", s.Spec(), at, tick, same)
		}
		if !ok {
			return
		}
		if tick <= at || tick <= 0 || tick >= instant.Max {
			t.Fatalf("%+v: Next(%d) = %d", s.Spec(), at, tick)
		}
		between := max(at, tick-1-(tick-max(at, 0))/2)
		if got, _ := s.Next(between, anchor); got != tick {
			t.Fatalf("%+v: Next(%d) = %d, but Next(%d) = %d", s.Spec(), at, tick, between, got)
		}
		if got, ok := s.Latest(at, tick, anchor); !ok || got != tick {
			t.Fatalf("%+v: Latest(%d, %d) = %d, %t", s.Spec(), at, tick, got, ok)
		}
		if got, ok := s.Latest(at, tick-1, anchor); ok {
			t.Fatalf("%+v: Latest(%d, %d) = %d, want none", s.Spec(), at, tick-1, got)
		}
		at = tick
	}
	s.Preview(t.Context(), after, anchor, 3)
}
