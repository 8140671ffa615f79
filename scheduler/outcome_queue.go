package scheduler

import (
	"sync"
	"time"

	"github.com/carillon-io/carillon/job"
)

// outcomeQueue holds outcomes until the loop reads them. It is bounded by the number of live runs. Safe for concurrent
// use. It is a list and not a channel, because the pad reports outcomes while it holds its lock, so adding must never
// block.
type outcomeQueue struct {
	ready chan struct{}
	mu    sync.Mutex
	list  []job.Outcome
	// since is when the oldest outcome began to wait, by the clock of the process.
	since time.Time
	added uint64 // so far
}

// add appends an outcome. It signals the loop for the first one and for a full step only; the loop's patience covers
// those in between.
func (q *outcomeQueue) add(o job.Outcome) {
	q.mu.Lock()
	if len(q.list) == 0 {
		q.since = time.Now()
	}
	q.list = append(q.list, o)
	q.added++
	n := len(q.list)
	q.mu.Unlock()
	if n == 1 || n == outcomesMax {
		notify(q.ready)
	}
}

// oldest returns since when the oldest outcome counts as waiting; false if none waits.
func (q *outcomeQueue) oldest() (time.Time, bool) {
	q.mu.Lock()
	defer q.mu.Unlock()
	return q.since, len(q.list) > 0
}

// isFull reports whether there are enough outcomes for a full step, so that waiting for more is useless.
func (q *outcomeQueue) isFull() bool {
	q.mu.Lock()
	defer q.mu.Unlock()
	return len(q.list) >= outcomesMax
}

// peek returns the oldest outcomes, at most the given number. The slice is valid until drop.
func (q *outcomeQueue) peek(most int) []job.Outcome {
	q.mu.Lock()
	defer q.mu.Unlock()
	return q.list[:min(most, len(q.list))]
}

// drop removes the first n outcomes, whose commit is durable. For the rest the wait begins anew.
func (q *outcomeQueue) drop(n int) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.list = q.list[n:]; len(q.list) == 0 {
		q.list = nil
	}
	q.since = time.Now()
}

// count returns how many outcomes have arrived in all.
func (q *outcomeQueue) count() uint64 {
	q.mu.Lock()
	defer q.mu.Unlock()
	return q.added
}

// waits reports whether one of the first n outcomes still waits for its commit.
func (q *outcomeQueue) waits(n uint64) bool {
	q.mu.Lock()
	defer q.mu.Unlock()
	return q.added-uint64(len(q.list)) < n
}

// notify sends to a channel of capacity 1, without blocking: one signal waits at most.
func notify(c chan struct{}) {
	select {
	case c <- struct{}{}:
	default:
	}
}
