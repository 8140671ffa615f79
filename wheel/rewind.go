package wheel

// Rewind moves the wheel back to an earlier tick, because the clock was set back. Every timer keeps its ref, and fires at
// the tick that was given to Arm or Rearm: one that the wheel was about to fire as overdue is due at its own tick again.
// Timers that have fired are gone. If to is not before Now(), the call does nothing. It panics if to is negative, and if
// fire calls it.
//
// A level keeps its timers as long as the wheel stays within the block of the level, so the cost follows from how far the
// wheel goes back: by a second, it moves the timers that are due within minutes; by hours, nearly all.
func (w *Wheel) Rewind(to Tick) {
	if w.advancing || to < 0 {
		panic("wheel: Rewind called by fire, or to a negative tick")
	}
	if to >= w.now {
		return
	}
	levels := w.leaves(to)
	w.now = to
	var chain Ref
	for level := range levels {
		chain = w.unlinkLevel(level, chain)
	}
	for ref := chain; ref != 0; {
		e := w.pool.entry(ref)
		next := e.next
		w.link(ref, w.place(e.at))
		ref = next
	}
}

// leaves returns how many levels, from the lowest one on, have another current block at an earlier tick. The lowest level
// always counts, because its current slot holds the overdue timers.
func (w *Wheel) leaves(to Tick) int {
	levels := 1
	for levels < w.shape.levels && w.shape.slotNumber(levels, to) != w.shape.slotNumber(levels, w.now) {
		levels++
	}
	return levels
}

// unlinkLevel takes all timers of a level out of their slots. It puts them in front of a chain, in the order of the slots,
// and returns the new front.
func (w *Wheel) unlinkLevel(level int, chain Ref) Ref {
	occupied := &w.occupied[level]
	for position := int(w.shape.ringSlots()) - 1; position >= 0 && !occupied.empty(); position-- {
		if !occupied.has(uint(position)) {
			continue
		}
		s := &w.slots[uint(level)<<(w.shape.slotBits+1)|uint(position)]
		w.pool.entry(s.tail).next = chain
		chain = s.head
		*s = slot{}
		occupied.clear(uint(position))
	}
	return chain
}
