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
	// since is when the oldest outcome began to wait, and urgent when the oldest one did that something may wait for; both
	// by the clock of the process. urgent is zero if there is none.
	since, urgent time.Time
	added         uint64 // so far
}

// add appends an outcome; mayWait says that its commit frees nothing. It signals the loop for the first one of each kind
// and for a full step only; the loop's patience covers those in between.
func (q *outcomeQueue) add(o job.Outcome, mayWait bool) {
	q.mu.Lock()
	tells := len(q.list) == 0 || len(q.list)+1 == outcomesMax
	if len(q.list) == 0 {
		q.since = time.Now()
	}
	if !mayWait && q.urgent.IsZero() {
		q.urgent, tells = time.Now(), true
	}
	q.list = append(q.list, o)
	q.added++
	q.mu.Unlock()
	if tells {
		notify(q.ready)
	}
}

// stepAt returns when the loop must step for the outcomes, if those that may wait do so for a while; false if none waits.
func (q *outcomeQueue) stepAt(patience time.Duration) (at time.Time, some bool) {
	q.mu.Lock()
	defer q.mu.Unlock()
	at = q.since.Add(patience)
	if !q.urgent.IsZero() {
		if soon := q.urgent.Add(minPacing.outcomes); soon.Before(at) {
			at = soon
		}
	}
	return at, len(q.list) > 0
}

// some reports whether there are outcomes.
func (q *outcomeQueue) some() bool {
	q.mu.Lock()
	defer q.mu.Unlock()
	return len(q.list) > 0
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

// drop removes the first n outcomes, whose commit is durable. For the rest the wait begins anew, and is short.
func (q *outcomeQueue) drop(n int) {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.since, q.urgent = time.Now(), time.Time{}
	if q.list = q.list[n:]; len(q.list) == 0 {
		q.list = nil
		return
	}
	q.urgent = q.since
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
