package wheel

// Advance moves the wheel to the tick to and calls fire for each timer due on the way, at most limit
// of them. It returns how many it fired, and whether it is done: the wheel stands at to, and nothing
// due is left. If it is not done, the limit was reached first; the wheel then stands at the tick of the
// next timer due, and the next call goes on exactly there. If to is before Now(), the call does nothing
// and is done. With a limit of 0 or less it fires nothing, and stops at the first timer due.
//
// Timers fire in ascending order of the tick they are due at, which is Now() for one that was armed
// overdue; those of one tick fire in an order that depends on the calls made, and on nothing else. None
// fires before its tick.
//
// A timer is no longer armed when fire is called with its id and the tick given to Arm or Rearm. fire
// may call every method of the wheel except Advance: a timer it cancels does not fire, and one it
// arms at or before to fires in this same call. So a fire that always arms overdue timers goes on
// until the limit. If fire panics, the wheel must not be used again.
//
// The cost follows the timers fired and moved, never the time that passes. limit does not bound the
// moves: a caller that is hours behind bounds those by coming closer in smaller steps.
func (w *Wheel) Advance(to Tick, limit int, fire func(id uint64, at Tick)) (fired int, done bool) {
	if w.advancing {
		panic("wheel: Advance called by fire, or after fire panicked")
	}
	if to < w.now {
		return 0, true
	}
	w.advancing = true
	fired, done = w.advance(to, limit, fire)
	w.advancing = false
	return fired, done
}

// advance stands still only at ticks with work, so empty time is free however long it is.
func (w *Wheel) advance(to Tick, limit int, fire func(id uint64, at Tick)) (fired int, done bool) {
	for {
		n, all := w.fireTick(limit-fired, fire)
		fired += n
		if !all {
			return fired, false
		}
		next, ok := w.Next()
		if !ok || next > to {
			w.now = to
			return fired, true
		}
		w.now = next
		w.descend()
	}
}

// fireTick fires what is due at the current tick, at most limit timers, and reports whether that was
// all. It looks at the slot anew each time, because fire may have changed it.
func (w *Wheel) fireTick(limit int, fire func(id uint64, at Tick)) (fired int, all bool) {
	due := &w.slots[w.shape.slotFor(0, w.now)]
	for ; due.head != 0; fired++ {
		if fired >= limit {
			return fired, false
		}
		ref := due.head
		id, at := w.pool.entry(ref).id, w.pool.entry(ref).at
		w.assertDue(at)
		w.Cancel(ref)
		fire(id, at)
	}
	return fired, true
}

// Next is the first tick at or after Now() at which the wheel has work to do: a timer to fire, or
// timers to move down. It is a lower bound: nothing fires before it, though perhaps nothing fires at it
// either. It reports false if no timer is armed.
//
// An idle caller sleeps until then and calls Advance. A timer t ticks ahead costs a few such calls
// over all its life, about one for each factor of 256 in t. Sleeping longer loses nothing but the pace:
// the moves that were put off are then done in one call.
//
// Next takes constant time: a look at a few words for each level.
func (w *Wheel) Next() (Tick, bool) {
	if w.armed == 0 {
		return 0, false
	}
	if w.slots[w.shape.slotFor(0, w.now)].count != 0 {
		return w.now, true
	}
	next := Tick(1<<tickBits - 1)
	for level := range w.occupied {
		if !w.occupied[level].empty() {
			next = min(next, w.nextOf(level))
		}
	}
	return next, true
}

// nextOf is the first tick after now at which a level has work, if nothing is due at now. The level must
// hold a timer. The lowest has work when a slot's tick comes; the others as soon as their first
// slot with timers is the one to drain, which is when the slot before it begins.
func (w *Wheel) nextOf(level int) Tick {
	current := w.shape.slotNumber(level, w.now)
	from := w.shape.position(current + 1)
	ahead := w.shape.position(uint64(w.occupied[level].next(from) - from))
	if level == 0 {
		return w.now + 1 + Tick(ahead)
	}
	if ahead == 0 {
		return w.now + 1
	}
	return w.shape.start(level, current+uint64(ahead))
}

// descend does the current tick's share of moving timers down. On each level above the lowest, the slot
// after the current one is draining: its timers belong to the next block of the level below, where a
// ring stands ready for them. Of n timers, with left ticks until that block begins, ceil(n/left) move.
// So the share stays what it was when the draining began, and the slot is empty in time.
//
// Nothing is added to a draining slot: what is armed for its ticks goes to a lower level at once, and
// so does what other levels move down in the same tick.
func (w *Wheel) descend() {
	moved := 0
	for level := 1; level < len(w.occupied); level++ {
		if !w.occupied[level].empty() {
			moved += w.drain(level)
		}
	}
	w.moved += uint64(moved)
	w.movedWorst = max(w.movedWorst, moved)
	w.assertDrained()
}

// drain moves the current tick's share out of the draining slot of a level, and returns how many.
func (w *Wheel) drain(level int) int {
	number := w.shape.slotNumber(level, w.now) + 1
	index := w.shape.slotFor(level, w.shape.start(level, number))
	count := uint64(w.slots[index].count)
	if count == 0 {
		return 0
	}
	left := uint64(w.shape.start(level, number) - w.now)
	share := int((count + left - 1) / left)
	for range share {
		ref := w.slots[index].head
		w.unlink(ref)
		w.link(ref, w.place(w.pool.entry(ref).at))
	}
	return share
}
