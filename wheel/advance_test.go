package wheel

import (
	"math"
	"slices"
	"testing"
)

func TestFiresInOrderOfTicks(t *testing.T) {
	w := New(0)
	ticks := []Tick{1 << 30, 5, 70_000, 300, 5, 0, 1<<30 - 1, 256}
	for i, at := range ticks {
		w.Arm(uint64(i), at)
	}
	var got []Tick
	for _, f := range advance(t, w, 1<<31) {
		got = append(got, f.at)
	}
	if slices.Sort(ticks); !slices.Equal(got, ticks) {
		t.Fatalf("fired at %v, want %v", got, ticks)
	}
}

func TestLimitStopsAndGoesOn(t *testing.T) {
	for limit := 1; limit <= 12; limit++ {
		w := New(0)
		for i := range uint64(10) {
			w.Arm(i, 100+Tick(i/4)) // ticks 100, 100, 100, 100, 101, …
		}
		var ids []uint64
		for calls, done := 0, false; !done; calls++ {
			before := len(ids)
			var n int
			n, done = w.Advance(1000, limit, func(id uint64, _ Tick) { ids = append(ids, id) })
			if n != len(ids)-before || n > limit || calls > 10 {
				t.Fatalf("limit %d: call %d fired %d", limit, calls, n)
			}
			if !done && w.Now() != 100+Tick(len(ids)/4) {
				t.Fatalf("limit %d: stopped at tick %d after %d timers", limit, w.Now(), len(ids))
			}
			check(t, w)
		}
		if !slices.Equal(ids, []uint64{0, 1, 2, 3, 4, 5, 6, 7, 8, 9}) || w.Now() != 1000 {
			t.Fatalf("limit %d: fired %v, now %d", limit, ids, w.Now())
		}
	}
}

func TestLimitZeroFiresNothing(t *testing.T) {
	w := New(0)
	w.Arm(1, 50)
	for _, limit := range []int{0, -1} {
		if n, done := w.Advance(100, limit, nil); n != 0 || done || w.Now() != 50 {
			t.Fatalf("limit %d: fired %d, done %v, now %d", limit, n, done, w.Now())
		}
	}
	expect(t, advance(t, w, 100), firing{1, 50})
}

func TestTimeNeverRunsBack(t *testing.T) {
	w := New(100)
	w.Arm(1, 80)
	if n, done := w.Advance(90, 9, nil); n != 0 || !done || w.Now() != 100 {
		t.Fatalf("fired %d, done %v, now %d", n, done, w.Now())
	}
	expect(t, advance(t, w, 100), firing{1, 80})
}

func TestFireCancelsATimerOfTheSameTick(t *testing.T) {
	w := New(0)
	var refs [4]Ref
	for i := range refs {
		refs[i] = w.Arm(uint64(i), 300)
	}
	var ids []uint64
	w.Advance(300, math.MaxInt, func(id uint64, _ Tick) {
		ids = append(ids, id)
		if id == 0 && (!w.Cancel(refs[1]) || !w.Cancel(refs[3]) || w.Cancel(refs[0])) {
			t.Error("the wrong timers were armed")
		}
	})
	if !slices.Equal(ids, []uint64{0, 2}) {
		t.Fatalf("fired %v", ids)
	}
	check(t, w)
}

func TestFireRearmsAndArms(t *testing.T) {
	w := New(0)
	other := w.Arm(9, 100)
	w.Arm(1, 10)
	var got []firing
	n, done := w.Advance(200, math.MaxInt, func(id uint64, at Tick) {
		got = append(got, firing{id, at})
		switch {
		case id == 1 && at == 10:
			w.Rearm(other, 12) // earlier than it was
			w.Arm(1, 2)        // overdue: still this call, and before tick 12
			w.Arm(1, 300)      // beyond this call
		case id == 9:
			w.Arm(2, 200)
		}
	})
	expect(t, got, firing{1, 10}, firing{1, 2}, firing{9, 12}, firing{2, 200})
	if n != 4 || !done || w.Len() != 1 {
		t.Fatalf("fired %d, done %v, Len %d", n, done, w.Len())
	}
	check(t, w)
}

func TestLimitHoldsAFireThatAlwaysArmsOverdue(t *testing.T) {
	w := New(0)
	w.Arm(1, 10)
	w.Arm(2, 10)
	var ids []uint64
	n, done := w.Advance(100, 5, func(id uint64, _ Tick) {
		ids = append(ids, id)
		w.Arm(id, 0)
	})
	if n != 5 || done || w.Now() != 10 || !slices.Equal(ids, []uint64{1, 2, 1, 2, 1}) {
		t.Fatalf("fired %v, done %v, now %d", ids, done, w.Now())
	}
}

func TestFireMustNotAdvance(t *testing.T) {
	w := New(0)
	w.Arm(1, 1)
	defer func() {
		if recover() == nil {
			t.Error("Advance inside fire did not panic")
		}
	}()
	w.Advance(1, 1, func(uint64, Tick) { w.Advance(2, 1, nil) })
}

func TestFarTicks(t *testing.T) {
	const year9999 = 253402300799999
	for _, now := range []Tick{0, 1_763_700_000_000} {
		w := New(now)
		for i, at := range []Tick{year9999, math.MaxInt64 - 1, math.MaxInt64} {
			w.Arm(uint64(i), at)
		}
		expect(t, advance(t, w, year9999-1))
		expect(t, advance(t, w, year9999), firing{0, year9999})
		expect(t, advance(t, w, math.MaxInt64), firing{1, math.MaxInt64 - 1}, firing{2, math.MaxInt64})
		if _, ok := w.Next(); ok || w.Stats().Moved > 3*8 {
			t.Fatalf("an empty wheel has work, or moved %d", w.Stats().Moved)
		}
	}
}

// An idle caller who sleeps until Next wakes a few times in the life of a far timer, and on time.
func TestNextLetsTheCallerSleep(t *testing.T) {
	const year = 365 * day
	w := New(1_763_700_000_123)
	at := w.Now() + year
	w.Arm(1, at)
	var fired []firing
	wakes := 0
	for ; w.Len() > 0; wakes++ {
		next, ok := w.Next()
		if !ok || next > at || next < w.Now() {
			t.Fatalf("Next() = %d, %v at %d, timer at %d", next, ok, w.Now(), at)
		}
		fired = append(fired, advance(t, w, next)...)
	}
	if expect(t, fired, firing{1, at}); wakes > 5 || w.Now() != at {
		t.Fatalf("%d wakes, fired at %d, want %d", wakes, w.Now(), at)
	}
}
