package wheel

import (
	"fmt"
	"math"
	"testing"
)

// Every pair of a start and a deadline, on wheels of 2 and of 4 slots a ring, walked in every way there
// is. The starts cover two whole rings of the second level, and the deadlines reach the third.
func TestEveryPairOfNowAndDeadline(t *testing.T) {
	walks := map[string]func(*Wheel, Tick) Tick{
		"tick":  func(w *Wheel, _ Tick) Tick { return w.Now() + 1 },
		"three": func(w *Wheel, _ Tick) Tick { return w.Now() + 3 },
		"next":  func(w *Wheel, _ Tick) Tick { next, _ := w.Next(); return next },
		"jump":  func(_ *Wheel, end Tick) Tick { return end },
	}
	for _, slotBits := range []uint{1, 2} {
		for name, walk := range walks {
			t.Run(fmt.Sprintf("slots=%d/walk=%s", 1<<slotBits, name), func(t *testing.T) {
				span := Tick(2) << (2 * slotBits)
				for now := range span {
					for at := range 4 * span {
						walkPair(t, slotBits, now, at, walk)
					}
				}
			})
		}
	}
}

// walkPair arms one timer and walks until it fires, which must be in the step that passes its tick.
func walkPair(t *testing.T, slotBits uint, now, at Tick, walk func(w *Wheel, end Tick) Tick) {
	w := newWheel(now, slotBits)
	w.Arm(1, at)
	due, end := max(now, at), 9<<(2*slotBits)+now
	for w.Len() > 0 {
		from := w.Now()
		to := walk(w, end)
		if next, ok := w.Next(); !ok || next < from || next > due {
			t.Fatalf("now %d, timer %d: Next() = %d, %v at %d", now, at, next, ok, from)
		}
		n, _ := w.Advance(to, math.MaxInt, func(_ uint64, got Tick) {
			if got != at || w.Now() != due {
				t.Fatalf("now %d, timer %d: fired %d at %d", now, at, got, w.Now())
			}
		})
		if (n == 1) != (to >= due) {
			t.Fatalf("now %d, timer %d: fired %d from %d to %d", now, at, n, from, to)
		}
	}
}
