package dispatch

import "sync"

// spareMax is the longest slice that a queue keeps for reuse, so that a burst does not hold its memory
// for ever.
const spareMax = 1 << 16

// queue hands items from many goroutines to one. It has no bound of its own: what enters is counted
// by the ledger. A push costs one short critical section, because the reader takes everything at
// once.
type queue[T any] struct {
	mu    sync.Mutex
	items []T
	wake  chan struct{} // holds a token whenever items may not be empty
}

func newQueue[T any]() *queue[T] { return &queue[T]{wake: make(chan struct{}, 1)} }

// push adds items in order. It never blocks.
func (q *queue[T]) push(items ...T) {
	q.mu.Lock()
	first := len(q.items) == 0
	q.items = append(q.items, items...)
	q.mu.Unlock()
	if first {
		signal(q.wake)
	}
}

// takeAll returns what is in the queue, which goes on in the memory of spare: a slice that an earlier
// takeAll returned and that the caller is done with.
func (q *queue[T]) takeAll(spare []T) []T {
	clear(spare)
	if cap(spare) > spareMax {
		spare = nil
	}
	q.mu.Lock()
	defer q.mu.Unlock()
	items := q.items
	q.items = spare[:0]
	return items
}

// signal puts a token into a channel of capacity one, unless there is one.
func signal(c chan struct{}) {
	select {
	case c <- struct{}{}:
	default:
	}
}

// fifo is a queue for a single goroutine. The zero value is empty.
type fifo[T any] struct {
	items []T
	head  int
}

func (f *fifo[T]) len() int { return len(f.items) - f.head }

func (f *fifo[T]) push(item T) { f.items = append(f.items, item) }

// front returns the oldest item, which must exist.
func (f *fifo[T]) front() T { return f.items[f.head] }

// pop removes and returns the oldest item, which must exist.
func (f *fifo[T]) pop() T {
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
		rest := copy(f.items, f.items[f.head:])
		clear(f.items[rest:])
		f.items, f.head = f.items[:rest], 0
	}
	return item
}
