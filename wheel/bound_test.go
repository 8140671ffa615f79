package wheel

import (
	"math"
	"math/rand/v2"
	"testing"
)

// The worst tick, counted in timers moved beyond those due, in the everyday shape and in the nastiest.
// The bound comes from the deadlines alone: for each level, the fullest slot over the ticks it has.
func TestWorstTick(t *testing.T) {
	random := rand.New(rand.NewPCG(3, 4))
	for _, c := range []struct {
		name string
		n    int
		at   func(i int) Tick
	}{
		{"a million over a day", 1_000_000, func(int) Tick { return benchStart + Tick(random.IntN(day)) }},
		{"one slot of 65 s, a day ahead", 200_000, func(int) Tick { return 411<<32 + day>>16<<16 + Tick(random.IntN(1<<16)) }},
		{"one slot of 256 ms, an hour ahead", 200_000, func(int) Tick { return 410<<32 + hour>>8<<8 + Tick(random.IntN(1<<8)) }},
		{"all in one tick", 200_000, func(int) Tick { return 410<<32 + 12345 }},
		{"every tick of ten minutes", 200_000, func(i int) Tick { return benchStart + Tick(3*i) }},
	} {
		t.Run(c.name, func(t *testing.T) {
			w, ticks := New(benchStart), make([]Tick, c.n)
			for i := range ticks {
				ticks[i] = c.at(i)
				w.Arm(uint64(i), ticks[i])
			}
			bound, textbook := moveBounds(w, ticks)
			fireAll(t, w, c.n)
			got := w.Stats().MovedWorst
			if got > bound {
				t.Errorf("%d timers moved in one tick, at most %d may", got, bound)
			}
			t.Logf("worst tick moved %d, bound %d; a wheel that empties whole slots: %d", got, bound, textbook)
		})
	}
}

// moveBounds returns the most timers that may move in a tick, and how many would in a textbook wheel.
// A slot of the level may hold all timers of its span, and has as many ticks to drain as it spans.
func moveBounds(w *Wheel, ticks []Tick) (paced, textbook int) {
	top := 0
	for _, at := range ticks {
		top = max(top, w.shape.levelFor(w.Now(), at))
	}
	for level := 1; level <= top; level++ {
		fullest, counts := 0, map[uint64]int{}
		for _, at := range ticks {
			number := w.shape.slotNumber(level, at)
			counts[number]++
			fullest = max(fullest, counts[number])
		}
		span := 1 << w.shape.shift(level)
		paced += (fullest + span - 1) / span
		textbook = max(textbook, fullest)
	}
	return paced, textbook
}

// fireAll goes from work to work until n timers have fired, each at its tick, and none is left.
func fireAll(t *testing.T, w *Wheel, n int) {
	t.Helper()
	fired := 0
	for w.Len() > 0 {
		next, _ := w.Next()
		before, share := w.Stats().Moved, uint64(0)
		looking := next%7 == 0 // some ticks are enough, and looking is slow
		if looking {
			share = drainShare(w, next)
		}
		k, _ := w.Advance(next, math.MaxInt, func(id uint64, at Tick) {
			if at != w.Now() {
				t.Fatalf("timer %d for %d fired at %d", id, at, w.Now())
			}
		})
		fired += k
		if moved := w.Stats().Moved - before; looking && moved != share {
			t.Fatalf("tick %d moved %d timers, its share is %d", next, moved, share)
		}
	}
	if fired != n {
		t.Fatalf("%d of %d fired", fired, n)
	}
}

// drainShare is what the tick has to move: for each level, ceil(draining timers / ticks left).
func drainShare(w *Wheel, tick Tick) uint64 {
	share := uint64(0)
	for level := 1; level < w.shape.levels; level++ {
		if w.occupied[level].empty() {
			continue
		}
		number := w.shape.slotNumber(level, tick) + 1
		count := uint64(w.slots[w.shape.slotFor(level, w.shape.start(level, number))].count)
		left := uint64(w.shape.start(level, number) - tick)
		share += (count + left - 1) / left
	}
	return share
}
