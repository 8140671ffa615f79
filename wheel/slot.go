package wheel

// slot is a doubly linked list of timers, in the order in which they were linked. Its entries are
// references into the pool, so a slot has no pointers. The zero value is an empty slot.
//
// Invariant: count is the number of entries from head to tail, and the occupancy of its level marks the
// slot if and only if count is not zero.
type slot struct {
	head, tail Ref
	count      uint32
}

// place returns the index of the slot for a timer due at the tick at: the slot of the lowest level that
// covers at as of now. An overdue timer goes into the slot of the current tick.
func (w *Wheel) place(at Tick) uint {
	at = max(at, w.now)
	return w.shape.slotFor(w.shape.levelFor(w.now, at), at)
}

// link appends a timer that is in no slot to the slot with that index.
func (w *Wheel) link(ref Ref, index uint) {
	s, e := &w.slots[index], w.pool.entry(ref)
	e.prev, e.next = s.tail, 0
	*w.pool.slotOf(ref) = uint16(index)
	if s.tail == 0 {
		s.head = ref
		w.occupied[w.shape.levelOfSlot(index)].set(w.shape.position(uint64(index)))
	} else {
		w.pool.entry(s.tail).next = ref
	}
	s.tail = ref
	s.count++
}

// unlink takes a timer out of its slot.
func (w *Wheel) unlink(ref Ref) {
	index := uint(*w.pool.slotOf(ref))
	s, e := &w.slots[index], w.pool.entry(ref)
	if e.prev == 0 {
		s.head = e.next
	} else {
		w.pool.entry(e.prev).next = e.next
	}
	if e.next == 0 {
		s.tail = e.prev
	} else {
		w.pool.entry(e.next).prev = e.prev
	}
	s.count--
	if s.count == 0 {
		w.occupied[w.shape.levelOfSlot(index)].clear(w.shape.position(uint64(index)))
	}
}
