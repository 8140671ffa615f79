package wheel

import "fmt"

// Tick is an absolute point in time, counted in the caller's unit: Carillon uses milliseconds since the
// Unix epoch. The wheel never reads a clock. Every non-negative value is in range, so no timer is too
// far ahead; a timer with a negative tick is always overdue.
type Tick int64

// Ref is the handle of an armed timer; 0 means no timer. It is a plain number, so callers can store it
// in rows that contain no pointers.
//
// A Ref is dead once its timer has fired or was cancelled, and the wheel may reuse its number for a
// timer armed later. So callers must drop it at that moment: the wheel recognises a dead Ref only until
// its number is reused.
type Ref uint32

// Wheel holds timers; each is a caller's id and the tick at which it is due. Use New: the zero value
// cannot be used. A Wheel is not safe for concurrent use; one goroutine owns it.
//
// Invariant: between calls, a timer that is not overdue is in the slot of its tick, on the lowest level
// whose current or next block holds it, or still in the draining slot of a level above.
//
// Invariant: on every level but the lowest, the slot that covers Now() is empty.
type Wheel struct {
	now      Tick        // never negative; falls only by Rewind
	armed    int         // number of timers in slots
	shape    shape       // never changes
	slots    []slot      // of all levels, by index
	occupied []occupancy // by level
	pool     pool        // the timers themselves

	advancing bool // Advance is running, so fire may not call it; stays set if fire panics

	moved      uint64 // see Stats.Moved
	movedWorst int    // see Stats.MovedWorst
}

// New returns an empty wheel that stands at the tick now. It panics if now is negative. The wheel never
// frees the memory to which it has grown.
func New(now Tick) *Wheel { return newWheel(now, slotBits) }

// newWheel returns a wheel with 1<<slotBits slots per ring. slotBits is at most that of New; tests use
// narrow rings to reach many levels within few ticks.
func newWheel(now Tick, slotBits uint) *Wheel {
	if now < 0 {
		panic(fmt.Sprintf("wheel: new at negative tick %d", now))
	}
	shape := newShape(slotBits)
	return &Wheel{
		now:      now,
		shape:    shape,
		slots:    make([]slot, uint(shape.levels)*shape.ringSlots()),
		occupied: make([]occupancy, shape.levels),
		pool:     newPool(),
	}
}

// Now returns the tick at which the wheel stands. Every timer due before it has fired, or was armed since.
func (w *Wheel) Now() Tick { return w.now }

// Len returns the number of armed timers.
func (w *Wheel) Len() int { return w.armed }

// Arm adds a timer and returns its handle, which is never 0. The id is the caller's and need not be
// unique. A timer whose tick is not after Now() is overdue: it counts as due at Now(), and fires in
// the very next Advance, even in Advance(Now()); armed by fire, it fires in the same call.
//
// Arm takes constant time. It allocates only when more timers are armed than ever before, and panics
// beyond 2^32-2 of them.
func (w *Wheel) Arm(id uint64, at Tick) Ref {
	ref := w.pool.take()
	e := w.pool.entry(ref)
	e.id, e.at = id, at
	w.link(ref, w.place(at))
	w.armed++
	return ref
}

// Cancel removes a timer in constant time and reports whether it existed. It returns false if ref is 0,
// was never handed out, or is dead and its number is not reused.
func (w *Wheel) Cancel(ref Ref) bool {
	if !w.pool.armed(ref) {
		return false
	}
	w.unlink(ref)
	w.pool.release(ref)
	w.armed--
	return true
}

// Rearm moves a timer to another tick in constant time; its id and ref stay the same. It reports whether
// the timer exists, as Cancel does, and treats an overdue tick as Arm does. A timer that is being fired
// is no longer armed: fire calls Arm to arm it again.
func (w *Wheel) Rearm(ref Ref, at Tick) bool {
	if !w.pool.armed(ref) {
		return false
	}
	w.unlink(ref)
	w.pool.entry(ref).at = at
	w.link(ref, w.place(at))
	return true
}
