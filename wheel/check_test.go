package wheel

import "testing"

// check walks the whole wheel and fails if anything contradicts its invariants.
func check(t testing.TB, w *Wheel) {
	t.Helper()
	linked := 0
	for index := range w.slots {
		linked += checkSlot(t, w, uint(index))
	}
	free := int(w.pool.free.count)
	for n := range uint(free) {
		ref := w.pool.free.slabs[n>>slabBits][n%slabSlots]
		if w.pool.armed(ref) {
			t.Fatalf("free ref %d is armed", ref)
		}
	}
	if linked != w.Len() || linked+free != int(w.pool.used) {
		t.Fatalf("%d linked, %d free, Len %d, %d handed out", linked, free, w.Len(), w.pool.used)
	}
}

// checkSlot checks one slot and returns how many timers it holds.
func checkSlot(t testing.TB, w *Wheel, index uint) int {
	t.Helper()
	s, count, prev := &w.slots[index], 0, Ref(0)
	for ref := s.head; ref != 0; ref = w.pool.entry(ref).next {
		e := w.pool.entry(ref)
		if e.prev != prev || uint(*w.pool.slotOf(ref)) != index {
			t.Fatalf("ref %d in slot %d: prev %d, want %d; slot %d", ref, index, e.prev, prev, *w.pool.slotOf(ref))
		}
		checkPlace(t, w, index, e.at)
		prev = ref
		count++
	}
	level := w.shape.levelOfSlot(index)
	if s.tail != prev || int(s.count) != count || w.occupied[level].has(w.shape.position(uint64(index))) != (count > 0) {
		t.Fatalf("slot %d: %d timers, but count %d, tail %d, last %d", index, count, s.count, s.tail, prev)
	}
	return count
}

// checkPlace checks that a slot is where a timer for the tick belongs: the lowest possible, or draining.
func checkPlace(t testing.TB, w *Wheel, index uint, at Tick) {
	t.Helper()
	at = max(at, w.now)
	level := w.shape.levelOfSlot(index)
	if w.shape.slotFor(level, at) != index {
		t.Fatalf("now %d: timer for %d in slot %d", w.now, at, index)
	}
	ahead := w.shape.slotNumber(level, at) - w.shape.slotNumber(level, w.now)
	if lowest := w.shape.levelFor(w.now, at); level != lowest && (level < lowest || ahead != 1) {
		t.Fatalf("now %d: timer for %d on level %d, want %d", w.now, at, level, lowest)
	}
}
