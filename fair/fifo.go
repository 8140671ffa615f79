package fair

// spareMax is the longest slice that a FIFO keeps when Pop or filter empties it, in items, so that the memory of a
// burst is freed. A smaller value would make each usual burst allocate again; a larger one keeps more memory
// in each line.
const spareMax = 4096

// FIFO is a first-in, first-out queue in one slice. The zero value is empty and ready. All methods take
// constant time on average, except filter. A ring would save the compaction; in a slice, At and filter need
// no arithmetic across the end.
//
// Invariant: head <= len(items), and the elements before head are zero, so that they keep nothing alive.
type FIFO[T any] struct {
	items []T // the queue is items[head:]
	head  int // index of the oldest item
}

// Len returns the number of items.
func (f *FIFO[T]) Len() int { return len(f.items) - f.head }

// Push adds an item at the end.
func (f *FIFO[T]) Push(item T) { f.items = append(f.items, item) }

// Front returns the oldest item. The queue must not be empty.
func (f *FIFO[T]) Front() T { return f.items[f.head] }

// At returns the item that has i others before it. i must be below Len.
func (f *FIFO[T]) At(i int) T { return f.items[f.head+i] }

// Pop removes and returns the oldest item. The queue must not be empty.
func (f *FIFO[T]) Pop() T {
	var zero T
	item := f.items[f.head]
	f.items[f.head] = zero
	f.head++
	switch {
	case f.head == len(f.items) && cap(f.items) > spareMax:
		f.items, f.head = nil, 0
	case f.head == len(f.items):
		f.items, f.head = f.items[:0], 0
	case f.head > 64 && f.head > len(f.items)/2: // a short slice is not worth a move: Push reuses it when it is empty
		f.compact()
	}
	return item
}

// compact moves the items to the front of the slice. Pop calls it when more than half of the slice is
// free, so each item is moved at most about once per Pop.
func (f *FIFO[T]) compact() {
	rest := copy(f.items, f.items[f.head:])
	clear(f.items[rest:])
	f.items, f.head = f.items[:rest], 0
}

// filter removes the items for which keep returns false, and keeps the order of the others. A slice of which more than three
// quarters are free then is replaced by a shorter one.
func (f *FIFO[T]) filter(keep func(T) bool) {
	kept := f.items[:0]
	for _, item := range f.items[f.head:] {
		if keep(item) {
			kept = append(kept, item)
		}
	}
	clear(f.items[len(kept):])
	if cap(kept) > spareMax && len(kept) < cap(kept)/4 {
		kept = append([]T(nil), kept...)
	}
	f.items, f.head = kept, 0
}
