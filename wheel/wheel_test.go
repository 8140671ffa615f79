package wheel

import (
	"math"
	"slices"
	"testing"
)

// firing is one call of fire.
type firing struct {
	id uint64
	at Tick
}

// advance collects what fires up to the tick, without a limit.
func advance(t *testing.T, w *Wheel, to Tick) []firing {
	t.Helper()
	var fired []firing
	n, done := w.Advance(to, math.MaxInt, func(id uint64, at Tick) { fired = append(fired, firing{id, at}) })
	if n != len(fired) || !done || w.Now() != to {
		t.Fatalf("Advance(%d) = %d, %v with %d firings, now %d", to, n, done, len(fired), w.Now())
	}
	check(t, w)
	return fired
}

func expect(t *testing.T, got []firing, want ...firing) {
	t.Helper()
	if !slices.Equal(got, want) {
		t.Fatalf("fired %v, want %v", got, want)
	}
}

func TestFiresAtItsTickAndNotBefore(t *testing.T) {
	for _, at := range []Tick{1001, 1255, 1256, 1512, 70_000, 1 << 24, 1 << 33} {
		w := New(1000)
		w.Arm(7, at)
		expect(t, advance(t, w, at-1))
		expect(t, advance(t, w, at), firing{7, at})
	}
}

func TestOverdueFiresInTheVeryNextAdvance(t *testing.T) {
	w := New(1000)
	w.Arm(1, 1000)
	w.Arm(2, 3)
	w.Arm(3, -5)
	if next, ok := w.Next(); next != 1000 || !ok {
		t.Fatalf("Next() = %d, %v", next, ok)
	}
	expect(t, advance(t, w, 1000), firing{1, 1000}, firing{2, 3}, firing{3, -5})
	expect(t, advance(t, w, 1000))
}

func TestCancel(t *testing.T) {
	w := New(0)
	first, second := w.Arm(1, 10), w.Arm(2, 10)
	if !w.Cancel(first) || w.Len() != 1 {
		t.Fatalf("an armed timer was not cancelled, Len %d", w.Len())
	}
	for _, dead := range []Ref{first, 0, second + 1, math.MaxUint32} {
		if w.Cancel(dead) || w.Rearm(dead, 20) {
			t.Fatalf("ref %d taken for armed", dead)
		}
	}
	expect(t, advance(t, w, 100), firing{2, 10})
	if w.Cancel(second) {
		t.Fatal("a fired timer was cancelled")
	}
}

func TestRearmKeepsTheRef(t *testing.T) {
	w := New(0)
	ref := w.Arm(1, 10)
	for _, at := range []Tick{1 << 40, 5, 0, 300} {
		if !w.Rearm(ref, at) {
			t.Fatalf("Rearm(%d, %d) found no timer", ref, at)
		}
		check(t, w)
	}
	expect(t, advance(t, w, 299))
	expect(t, advance(t, w, 300), firing{1, 300})
}

func TestGrowsOverSlabs(t *testing.T) {
	w := New(0)
	const n = 3*slabSlots + 5
	for i := range n {
		if ref := w.Arm(uint64(i), Tick(n-i)); ref == 0 || int(ref) != i+1 {
			t.Fatalf("timer %d has ref %d", i, ref)
		}
	}
	if fired := advance(t, w, n); len(fired) != n || fired[0].id != n-1 {
		t.Fatalf("%d fired, first %v", len(fired), fired[0])
	}
}

func TestArmAndFireDoNotAllocate(t *testing.T) {
	w := New(0)
	fire := func(id uint64, at Tick) { w.Arm(id, at+1000+Tick(id)) }
	for i := range 1000 {
		w.Arm(uint64(i), Tick(i))
	}
	allocs := testing.AllocsPerRun(100, func() { w.Advance(w.Now()+500, math.MaxInt, fire) })
	if allocs != 0 {
		t.Fatalf("%v allocations per run", allocs)
	}
}

func TestMemoryOfATimer(t *testing.T) {
	w := New(0)
	empty := w.Stats().SizeBytes
	const n = 100 * slabSlots
	for i := range n {
		w.Arm(uint64(i), Tick(i))
	}
	if per := float64(w.Stats().SizeBytes-empty) / n; per > 28 {
		t.Errorf("%.1f bytes per timer", per)
	}
	if empty > 300<<10 {
		t.Errorf("an empty wheel holds %d bytes", empty)
	}
}

func TestNewRefusesNegativeTicks(t *testing.T) {
	defer func() {
		if recover() == nil {
			t.Error("New(-1) did not panic")
		}
	}()
	New(-1)
}
