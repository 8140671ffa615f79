//go:build invariants

package wheel

import "fmt"

// assertDue panics if a timer is about to fire before its tick.
func (w *Wheel) assertDue(at Tick) {
	if at > w.now {
		panic(fmt.Sprintf("wheel: timer for tick %d fires early, at %d", at, w.now))
	}
}

// assertDrained panics if a slot above the lowest level still has timers when its block has begun.
func (w *Wheel) assertDrained() {
	for level := 1; level < len(w.occupied); level++ {
		if n := w.slots[w.shape.slotFor(level, w.now)].count; n != 0 {
			panic(fmt.Sprintf("wheel: level %d holds %d timers of its current slot at tick %d", level, n, w.now))
		}
	}
}
