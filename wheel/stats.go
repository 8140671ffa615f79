package wheel

import "unsafe"

// Stats is what a wheel counts about itself.
type Stats struct {
	// Moved is how many times a timer was moved down a level, since New.
	Moved uint64

	// MovedWorst is the most timers moved down in one tick, since New. None of them was due in that
	// tick. It is at most the sum, over the levels, of ceil(timers in the fullest slot / ticks in a slot).
	MovedWorst int

	// SizeBytes is the memory the wheel holds: about 26 bytes for each timer of the largest number
	// that were ever armed together, and 50 KiB.
	SizeBytes int64
}

// Stats returns the counts as of now. It takes constant time.
func (w *Wheel) Stats() Stats {
	fixed := unsafe.Sizeof(*w) +
		uintptr(cap(w.occupied))*unsafe.Sizeof(occupancy{}) +
		uintptr(cap(w.slots))*unsafe.Sizeof(slot{})
	return Stats{
		Moved:      w.moved,
		MovedWorst: w.movedWorst,
		SizeBytes:  int64(fixed) + w.pool.sizeBytes(),
	}
}
