package wheel

import "unsafe"

// Stats holds the counts that a wheel keeps about its own work. All of them start at 0 with New.
type Stats struct {
	// Moved is the number of times that a timer was moved down a level.
	Moved uint64

	// MovedWorst is the largest number of timers moved down in one tick. It is at most the sum, over
	// the levels, of ceil(timers in the fullest slot / ticks in a slot).
	MovedWorst int

	// SizeBytes is the memory the wheel holds: about 50 KiB, and 26 bytes for each timer of the largest
	// number that were ever armed at the same time. It never falls.
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
