package wheel

// Advance moves the wheel forward to the tick to and calls fire for each timer due on the way, at most
// limit of them. It returns the number of timers fired, and done: true if the wheel has reached to and
// no timer due is left, false if the limit was reached first. In the latter case the wheel stands at the
// tick of the next timer due, and the next call continues exactly there. If to is before Now(), the call
// does nothing and returns (0, true). With a limit of 0 or less it fires nothing and stops at the first
// timer due.
//
// Timers fire in ascending order of their due tick; a timer that was armed overdue is due at Now().
// Timers of the same tick fire in an order that depends only on the calls made so far, so the same calls
// give the same order. No timer fires before its tick.
//
// fire receives the timer's id and the tick that was given to Arm or Rearm; the timer is disarmed before
// the call. fire may call every method of the wheel except Advance: a timer that it cancels does not
// fire, and a timer that it arms at or before to fires in this same call. So a fire that always arms
// overdue timers runs until the limit. If fire panics, the wheel must not be used again.
//
// The cost is proportional to the timers fired and moved, not to the ticks that pass. limit does not
// bound the moves: a caller that is hours behind bounds them by advancing in smaller steps.
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

// advance visits only the ticks that have work, so a span of ticks without work costs nothing, however
// long it is.
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

// fireTick fires the timers due at the current tick, at most limit of them, and reports whether none is
// left. It reads the head of the slot again after each call of fire, because fire may have changed the
// slot.
func (w *Wheel) fireTick(limit int, fire func(id uint64, at Tick)) (fired int, all bool) {
	due := &w.slots[w.shape.slotFor(0, w.now)]
	for ; due.head != 0; fired++ {
		if fired >= limit {
			return fired, false
		}
		ref := due.head
		id, at := w.pool.entry(ref).id, w.pool.entry(ref).at
		w.assertDue(at)
		w.Cancel(ref) // first, so that fire may arm a timer, which then reuses the entry that is in the cache
		fire(id, at)
	}
	return fired, true
}

// Next returns the first tick at or after Now() at which the wheel has work: a timer to fire, or timers
// to move down a level. It is a lower bound of the next due tick: no timer fires before it, and perhaps
// none fires at it. It returns false if no timer is armed.
//
// An idle caller sleeps until that tick and calls Advance. A timer t ticks ahead costs a few such calls
// in its whole life, about one for each factor of 256 in t. A caller that sleeps longer loses only the
// even pace: the next call then makes all the moves that are overdue.
//
// Next takes constant time: it reads a few words of each level's bitmap.
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

// nextOf returns the first tick after now at which a level has work. The level must hold a timer, and no
// timer may be due at now. The lowest level has work at the tick of its next occupied slot. A higher
// level has work as soon as its next occupied slot starts to drain, which is when the slot before it
// begins.
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

// descend moves this tick's share of timers down. On each level above the lowest, the slot after the
// current one is the draining slot: its timers belong to the next block of the level below, whose second
// ring is free for them. With n timers in the slot and left ticks until that block begins, ceil(n/left)
// timers move. So the share per tick stays constant while a slot drains, and the slot is empty when its
// block begins.
//
// No timer is added to a draining slot: place puts a timer for its ticks on a lower level, both when the
// caller arms it and when a higher level moves it down in the same tick.
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

// drain moves this tick's share of timers out of the draining slot of a level, and returns their number.
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
