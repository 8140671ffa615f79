package schedule

import (
	"fmt"
	"testing"
	"time"

	"github.com/carillon-io/carillon/instant"
)

func TestScheduleAt(t *testing.T) {
	s := mustSchedule(t, "@at 2026-12-01T08:00:00.0015+01:00", "")
	at := rfc3339(t, "2026-12-01T07:00:00.002Z")
	if s.At() != at || s.Interval() != 0 {
		t.Fatalf("At = %s, want %s: a fraction of a millisecond is rounded up", s.At(), at)
	}
	if got, ok := s.Next(at-1, 0); !ok || got != at {
		t.Errorf("Next just before = %s, %t", got, ok)
	}
	if got, ok := s.Next(at, 0); ok {
		t.Errorf("Next at the tick = %s, want none", got)
	}
	if got, ok := s.Latest(at-1, at, 0); !ok || got != at {
		t.Errorf("Latest = %s, %t", got, ok)
	}
	if got, ok := s.Latest(at, at+1, 0); ok {
		t.Errorf("Latest after the tick = %s, want none", got)
	}
}

func TestScheduleEveryKeepsItsGrid(t *testing.T) {
	s := mustSchedule(t, "@every 10s", "")
	if s.Interval() != 10*time.Second || s.At() != 0 {
		t.Fatalf("Interval = %s, At = %s", s.Interval(), s.At())
	}
	const far = instant.Millis(1) << 62
	for _, c := range []struct{ after, anchor, next instant.Millis }{
		{100_000, 100_000, 110_000},
		{100_000, 103_000, 103_000},
		{102_999, 103_000, 103_000},
		{103_000, 103_000, 113_000},
		{103_001, 100_003_000, 113_000}, // an anchor in the future is on the grid too
		{100_000, -7_000, 103_000},
		{-5, 0, 10_000},  // no tick at or before the epoch
		{-far, 1, 1},     //
		{0, far, 7_904},  // 2^62 mod 10000
		{0, -far, 2_096}, //
	} {
		if got, ok := s.Next(c.after, c.anchor); !ok || got != c.next {
			t.Errorf("Next(%d, %d) = %d, %t; want %d", c.after, c.anchor, got, ok, c.next)
		}
		if got, ok := s.Latest(c.after, c.next, c.anchor); !ok || got != c.next {
			t.Errorf("Latest(%d, %d, %d) = %d, %t", c.after, c.next, c.anchor, got, ok)
		}
		if got, ok := s.Latest(c.next-1_000_000, c.next-1, c.anchor); ok && got != c.next-10_000 {
			t.Errorf("Latest before %d = %d", c.next, got)
		}
	}
}

func TestScheduleWindow(t *testing.T) {
	hour := func(h int) instant.Millis { return rfc3339(t, fmt.Sprintf("2026-12-01T%02d:00:00Z", h)) }
	for _, expr := range []string{"0 * * * *", "@every 1h"} {
		s, err := Parse(Spec{Expr: expr, StartsAt: hour(3), EndsAt: hour(6)})
		if err != nil {
			t.Fatal(err)
		}
		times, _, _ := s.Preview(t.Context(), 0, hour(1), 10)
		if want := []instant.Millis{hour(3), hour(4), hour(5)}; fmt.Sprint(times) != fmt.Sprint(want) {
			t.Errorf("%s: ticks %s, want %s: the start is inside, the end is not", expr, times, want)
		}
		if got, ok := s.Latest(0, instant.Max, hour(1)); !ok || got != hour(5) {
			t.Errorf("%s: Latest = %s, %t", expr, got, ok)
		}
		if _, ok := s.Latest(0, hour(3)-1, hour(1)); ok {
			t.Errorf("%s: a tick before the start", expr)
		}
	}
}

// TestScheduleEnds covers the ends of time, where arithmetic would wrap around.
func TestScheduleEnds(t *testing.T) {
	const low, high = -1 << 63, 1<<63 - 1
	for _, expr := range []string{"* * * * * *", "0 0 1 1 *", "@every 10ms", "@every 3660d", "@at 2026-12-01T08:00:00Z"} {
		for _, zone := range []string{"", "America/New_York", "Pacific/Kiritimati"} {
			s := mustSchedule(t, expr, zone)
			for _, after := range []instant.Millis{low, -1, 0, instant.Max - 1, instant.Max, high} {
				for _, anchor := range []instant.Millis{low, 0, high} {
					tick, ok := s.Next(after, anchor)
					if ok != (after <= 0) || ok && (tick <= 0 || tick >= instant.Max) {
						t.Errorf("%s in %q: Next(%d, %d) = %d, %t", expr, zone, after, anchor, tick, ok)
					}
				}
			}
			if _, ok := s.Latest(low, high, 0); !ok {
				t.Errorf("%s in %q: no latest tick of all time", expr, zone)
			}
		}
	}
	if _, ok := new(Schedule).Next(0, 0); ok {
		t.Error("the zero schedule has a tick")
	}
}

// TestScheduleNextDoesNotAllocate holds for every kind and on both sides of a change.
func TestScheduleNextDoesNotAllocate(t *testing.T) {
	for _, expr := range []string{"*/5 * * * *", "30 2 * * *", "0 0 29 2 *", "@every 10s", "@at 2026-12-01T08:00:00Z",
		"0 8 L,15W,LW * *", "0 8 * * 5#3,fri#1", "30 2 L-3 * 5L", "*/5 * * * * ? 2026-2030", "0 30 2 29 2 ? 2028", "0 8 * * *\n@every 1h\nCRON_TZ=UTC 0 9 * * *"} {
		s := mustSchedule(t, expr, "America/New_York")
		after := rfc3339(t, "2026-03-08T06:59:00Z")
		if n := testing.AllocsPerRun(100, func() { s.Next(after, 0); s.Latest(after-100_000_000, after, 0) }); n != 0 {
			t.Errorf("%s: %v allocations", expr, n)
		}
	}
}
