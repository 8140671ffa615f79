package wheel

import (
	"cmp"
	"flag"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"
)

var twinSeed = flag.Uint64("wheel.seed", 0, "the one seed TestTwin runs; 0 runs seeds 1 to 24")

// twinTimer is a timer as the twin sees it: due is its tick, or Now() at arming if that was later.
type twinTimer struct {
	due, at Tick
	id      uint64
	ref     Ref
}

// twin does to a sorted slice what is done to a wheel, and compares. It is slow and plainly right.
type twin struct {
	t      testing.TB
	w      *Wheel
	draw   func(n int) int // the next choice, below n
	now    Tick
	lastID uint64
	timers []twinTimer // by due, then id
}

func newTwin(t testing.TB, now Tick, slotBits uint, draw func(n int) int) *twin {
	return &twin{t: t, w: newWheel(now, slotBits), draw: draw, now: now}
}

// step does one operation of any kind and compares what can be seen afterwards.
func (tw *twin) step() {
	switch tw.draw(40) {
	case 0, 1, 2, 3, 4, 5, 6, 7, 8, 9:
		tw.advance()
	case 10:
		tw.rewind()
	default:
		tw.change()
	}
	tw.compare()
}

// change does what both a caller and a fire may do.
func (tw *twin) change() {
	switch tw.draw(5) {
	case 0, 1, 2:
		tw.arm()
	case 3:
		tw.cancel()
	case 4:
		tw.rearm()
	}
}

// tick draws a tick: in the past, close by, at the edge of a slot, or far away.
func (tw *twin) tick() Tick {
	edge := Tick(1)<<tw.draw(tickBits) - 1
	at := tw.now + Tick(tw.draw(600)) - 8
	switch tw.draw(4) {
	case 0:
		at = tw.now + Tick(tw.draw(4))
	case 1:
		at = (tw.now | edge) + Tick(tw.draw(3)) - 1
	case 2:
		at = tw.now + edge>>20 + Tick(tw.draw(3)) - 1
	}
	if at < tw.now-8 { // beyond the last tick
		return math.MaxInt64
	}
	return at
}

func (tw *twin) insert(timer twinTimer) {
	timer.due = max(timer.at, tw.now)
	i, _ := slices.BinarySearchFunc(tw.timers, timer, func(a, b twinTimer) int {
		return cmp.Or(cmp.Compare(a.due, b.due), cmp.Compare(a.id, b.id))
	})
	tw.timers = slices.Insert(tw.timers, i, timer)
}

// pull takes a timer out of the twin, any one.
func (tw *twin) pull() (twinTimer, bool) {
	if len(tw.timers) == 0 {
		return twinTimer{}, false
	}
	i := tw.draw(len(tw.timers))
	timer := tw.timers[i]
	tw.timers = slices.Delete(tw.timers, i, i+1)
	return timer, true
}

func (tw *twin) arm() {
	tw.lastID++
	timer := twinTimer{id: tw.lastID, at: tw.tick()}
	timer.ref = tw.w.Arm(timer.id, timer.at)
	tw.insert(timer)
}

func (tw *twin) cancel() {
	if timer, ok := tw.pull(); ok && (!tw.w.Cancel(timer.ref) || tw.w.Cancel(timer.ref)) {
		tw.t.Fatalf("timer %+v was not cancelled just once", timer)
	}
}

func (tw *twin) rearm() {
	timer, ok := tw.pull()
	if !ok {
		return
	}
	if timer.at = tw.tick(); !tw.w.Rearm(timer.ref, timer.at) {
		tw.t.Fatalf("timer %+v was not armed", timer)
	}
	tw.insert(timer)
}

// advance advances both, with changes made by fire, and checks every timer as it fires.
func (tw *twin) advance() {
	to, limit, calls := tw.tick(), 1+tw.draw(40), 0
	fired, done := tw.w.Advance(to, limit, func(id uint64, at Tick) {
		calls++
		tw.fire(to, id, at)
		if tw.draw(3) == 0 {
			tw.change()
		}
	})
	switch {
	case fired != calls || fired > limit || (!done && fired != limit):
		tw.t.Fatalf("Advance(%d, %d) = %d, %v after %d calls", to, limit, fired, done, calls)
	case done:
		tw.now = max(tw.now, to)
	default:
		tw.now = tw.timers[0].due
	}
	if done && to == tw.now && len(tw.timers) > 0 && tw.timers[0].due <= to {
		tw.t.Fatalf("Advance(%d, %d) is done without %+v", to, limit, tw.timers[0])
	}
}

// rewind takes both back, by a little or by much: what was overdue is due at its own tick again.
func (tw *twin) rewind() {
	tw.now = max(0, tw.now-Tick(tw.draw(1<<tw.draw(30))))
	tw.w.Rewind(tw.now)
	timers := tw.timers
	tw.timers = nil
	for _, timer := range timers {
		tw.insert(timer)
	}
}

// fire takes the timer out of the twin, where it must be one of the first due.
func (tw *twin) fire(to Tick, id uint64, at Tick) {
	due := tw.timers[0].due
	i := slices.IndexFunc(tw.timers, func(timer twinTimer) bool { return timer.id == id })
	if i < 0 || tw.timers[i].due != due || tw.timers[i].at != at || due > to || tw.w.Now() != due {
		tw.t.Fatalf("timer %d for %d fired at %d, due was %+v", id, at, tw.w.Now(), tw.timers[0])
	}
	tw.now = due
	tw.timers = slices.Delete(tw.timers, i, i+1)
}

func (tw *twin) compare() {
	if tw.w.Len() != len(tw.timers) || tw.w.Now() != tw.now {
		tw.t.Fatalf("Len %d, Now %d; want %d, %d", tw.w.Len(), tw.w.Now(), len(tw.timers), tw.now)
	}
	next, ok := tw.w.Next()
	if ok != (len(tw.timers) > 0) || ok && (next < tw.now || next > tw.timers[0].due) {
		tw.t.Fatalf("Next() = %d, %v at %d with %d timers", next, ok, tw.now, len(tw.timers))
	}
}

// TestTwin does random operations to a wheel and its twin.
func TestTwin(t *testing.T) {
	seeds := []uint64{*twinSeed}
	if *twinSeed == 0 {
		seeds = make([]uint64, 24)
		for i := range seeds {
			seeds[i] = uint64(i) + 1
		}
	}
	for _, seed := range seeds {
		t.Run(fmt.Sprintf("seed=%d", seed), func(t *testing.T) {
			t.Logf("repeat with: go test ./wheel -run TestTwin -wheel.seed=%d", seed)
			random := rand.New(rand.NewPCG(seed, 0))
			slotBits := []uint{1, 2, 3, 8}[seed%4]
			tw := newTwin(t, Tick(random.Int64N(1<<(seed%41))), slotBits, random.IntN)
			for i := range 4000 {
				if tw.step(); i%20 == 0 {
					check(t, tw.w)
				}
			}
		})
	}
}
