package wheel

import "testing"

// TestRewind: timers keep their refs and their ticks, whether the wheel goes back by little or by much.
func TestRewind(t *testing.T) {
	for _, back := range []Tick{0, 1, 255, 256, 70_000, hour, day, benchStart} {
		w := New(benchStart)
		first, last := w.Arm(1, benchStart-back), w.Arm(2, benchStart+30*day)
		w.Arm(3, benchStart+5)
		w.Arm(4, benchStart+hour)
		w.Rewind(benchStart - back)
		check(t, w)
		if w.Now() != benchStart-back || w.Len() != 4 {
			t.Fatalf("back by %d: the wheel stands at %d with %d timers", back, w.Now(), w.Len())
		}
		if !w.Rearm(first, benchStart-back+2) || !w.Cancel(last) {
			t.Fatalf("back by %d: a timer has lost its ref", back)
		}
		expect(t, advance(t, w, benchStart-back+1))
		expect(t, advance(t, w, benchStart-back+2), firing{1, benchStart - back + 2})
		w.Advance(benchStart+hour, 10, func(uint64, Tick) {})
		if w.Len() != 0 {
			t.Fatalf("back by %d: %d timers are left", back, w.Len())
		}
	}
}

// TestRewindRestoresTheTick: a timer that was armed behind the wheel fires at once, unless the wheel goes back before.
func TestRewindRestoresTheTick(t *testing.T) {
	w := New(100)
	w.Arm(1, 80)
	w.Rewind(60)
	expect(t, advance(t, w, 79))
	expect(t, advance(t, w, 80), firing{1, 80})
	w.Rewind(90) // to what is ahead of it: nothing
	if w.Now() != 80 {
		t.Errorf("the wheel stands at %d", w.Now())
	}
}

func TestFireMustNotRewind(t *testing.T) {
	w := New(0)
	w.Arm(1, 1)
	defer func() {
		if recover() == nil {
			t.Error("Rewind inside fire did not panic")
		}
	}()
	w.Advance(1, 1, func(uint64, Tick) { w.Rewind(0) })
}
