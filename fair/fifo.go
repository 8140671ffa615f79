package fair

// spareMax is the longest slice that an empty FIFO keeps, so that a burst does not hold its memory for
// ever.
const spareMax = 4096

// FIFO is a queue. The zero value is empty.
type FIFO[T any] struct {
	items []T
	head  int
}

// Len returns the number of items.
func (f *FIFO[T]) Len() int { return len(f.items) - f.head }

// Push adds an item at the end.
func (f *FIFO[T]) Push(item T) { f.items = append(f.items, item) }

// Front returns the oldest item, which must exist.
func (f *FIFO[T]) Front() T { return f.items[f.head] }

// At returns the item with i others in front of it; there must be one.
func (f *FIFO[T]) At(i int) T { return f.items[f.head+i] }

// Pop removes and returns the oldest item, which must exist.
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
	case f.head > 64 && f.head > len(f.items)/2:
		f.compact()
	}
	return item
}

func (f *FIFO[T]) compact() {
	rest := copy(f.items, f.items[f.head:])
	clear(f.items[rest:])
	f.items, f.head = f.items[:rest], 0
}

// filter removes the items that are not to be kept. The order of the others stays.
func (f *FIFO[T]) filter(keep func(T) bool) {
	kept := f.items[:0]
	for _, item := range f.items[f.head:] {
		if keep(item) {
			kept = append(kept, item)
		}
	}
	clear(f.items[len(kept):])
	f.items, f.head = kept, 0
}
