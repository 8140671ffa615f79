package wheel

import "fmt"

// Tick is an absolute point in time, counted in whatever unit the caller chose: Carillon takes
// milliseconds since the Unix epoch. The wheel never reads a clock. Every value that is not
// negative is in range, so no timer is too far ahead; a negative one is always overdue.
type Tick int64

// Ref is the handle of an armed timer; 0 is no timer. It is a plain number without a pointer, made to
// be kept in the caller's own rows.
//
// A Ref is dead once its timer has fired or was cancelled, and the wheel gives its number to a timer
// armed later. So callers forget it at that moment: the wheel recognises a dead Ref only while its
// number is not in use again.
type Ref uint32

// Wheel holds timers, each a caller's id and the tick it is due at. Use New: the zero value is not
// ready. A Wheel is not safe for concurrent use; one goroutine owns it.
//
// Invariant: between calls, a timer that is not overdue is in the slot of its tick, on the lowest level
// whose current or next block holds it, or still in the draining slot of a level above.
//
// Invariant: on every level but the lowest, the slot that holds Now() is empty.
type Wheel struct {
	now      Tick
	armed    int
	shape    shape
	slots    []slot      // of all levels, by index
	occupied []occupancy // by level
	pool     pool

	advancing bool // inside Advance, where fire may not call it again

	moved      uint64
	movedWorst int
}

// New returns an empty wheel that stands at the tick now. It panics if now is negative. The wheel
// keeps the memory it grew to for as long as it lives.
func New(now Tick) *Wheel { return newWheel(now, slotBits) }

// newWheel makes a wheel with 1<<slotBits slots per ring, at most that of New.
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

// Now is the tick the wheel stands at. Everything due before it has fired.
func (w *Wheel) Now() Tick { return w.now }

// Len is the number of armed timers.
func (w *Wheel) Len() int { return w.armed }

// Arm adds a timer and returns its handle, which is never 0. The id is the caller's and need not be
// unique. A timer whose tick is not after Now() is overdue: it counts as due at Now(), and fires in
// the very next Advance, even in Advance(Now()); armed by fire, it fires in the same call.
//
// Arm takes constant time. It allocates only when there are more timers than there ever were, and
// panics beyond 2^32-2 of them.
func (w *Wheel) Arm(id uint64, at Tick) Ref {
	ref := w.pool.take()
	e := w.pool.entry(ref)
	e.id, e.at = id, at
	w.link(ref, w.place(at))
	w.armed++
	return ref
}

// Cancel removes a timer in constant time, and reports whether there was one: false if ref is 0, was
// never handed out, or is dead and its number not in use again.
func (w *Wheel) Cancel(ref Ref) bool {
	if !w.pool.armed(ref) {
		return false
	}
	w.unlink(ref)
	w.pool.release(ref)
	w.armed--
	return true
}

// Rearm moves a timer to another tick in constant time; its id and ref stay. It reports whether there
// was a timer, as Cancel does, and treats an overdue tick as Arm does. A timer that is being fired
// is armed no longer: fire uses Arm to go on.
func (w *Wheel) Rearm(ref Ref, at Tick) bool {
	if !w.pool.armed(ref) {
		return false
	}
	w.unlink(ref)
	w.pool.entry(ref).at = at
	w.link(ref, w.place(at))
	return true
}
