package dispatch

import "sync"

// spareMax is the longest slice that a queue keeps for reuse, so that the memory of a burst is freed. Up to
// it, push and takeAll pass the same two slices back and forth.
const spareMax = 1 << 16

// queue passes items from many goroutines to one. It needs no bound of its own, because places bound the
// attempts in the ledger. A push costs one short critical section, because the reader takes all items at
// once.
type queue[T any] struct {
	mu    sync.Mutex
	items []T
	wake  chan struct{} // holds a token whenever items may not be empty
}

func newQueue[T any]() *queue[T] { return &queue[T]{wake: make(chan struct{}, 1)} }

// push adds items in order. It never blocks. Only the push to an empty queue wakes the reader, which
// removes all items at once.
func (q *queue[T]) push(items ...T) {
	q.mu.Lock()
	first := len(q.items) == 0
	q.items = append(q.items, items...)
	q.mu.Unlock()
	if first {
		signal(q.wake)
	}
}

// takeAll removes and returns all items. The queue then uses the memory of spare: a slice of an earlier
// takeAll that the caller no longer uses.
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

// signal puts a token into a channel of capacity one, unless the channel already holds one.
func signal(c chan struct{}) {
	select {
	case c <- struct{}{}:
	default:
	}
}
