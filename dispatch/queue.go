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
