package pad

import (
	"testing"
	"time"
)

// TestIdleTicksWakeTogether: whenever a tick goes to sleep, it looks again within IdleMax, at an instant that all ticks
// share and that is no whole second.
func TestIdleTicksWakeTogether(t *testing.T) {
	start := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	for past := time.Duration(0); past < 2*time.Second; past += 7 * time.Millisecond {
		now := start.Add(past)
		p := New(Options{Now: func() time.Time { return now }})
		wait := p.untilDue()
		if wait <= 0 || wait > IdleMax {
			t.Fatalf("at %s it sleeps for %s; want at most %s", now, wait, IdleMax)
		}
		if at := now.Add(wait).Sub(start) % IdleMax; at != IdleMax/2 {
			t.Fatalf("at %s it sleeps until %s after a look of the others", now, at)
		}
	}
}
