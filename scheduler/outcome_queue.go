package scheduler

import (
	"slices"
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
	waits []outcomeWait // of each outcome of the list
	// urgent is when the oldest outcome arrived that something may wait for; zero if there is none.
	urgent time.Time
	added  uint64 // so far
}

// outcomeWait is since when an outcome waits, by the clock of the process, and whether it may.
type outcomeWait struct {
	since   time.Time
	mayWait bool
}

// add appends an outcome; mayWait says that its commit frees nothing. It signals the loop for the first one of each kind
// and for a full step only; the loop's patience covers those in between.
func (q *outcomeQueue) add(o job.Outcome, mayWait bool) {
	q.mu.Lock()
	tells := len(q.list) == 0 || len(q.list)+1 == outcomesMax
	now := time.Now()
	if !mayWait && q.urgent.IsZero() {
		q.urgent, tells = now, true
	}
	q.list, q.waits = append(q.list, o), append(q.waits, outcomeWait{now, mayWait})
	q.added++
	q.mu.Unlock()
	if tells {
		notify(q.ready)
	}
}

// stepAt returns when the loop must step for the outcomes, if those that may wait do so as a pacing says; false if none waits.
func (q *outcomeQueue) stepAt(p pacing) (at time.Time, some bool) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if len(q.list) == 0 {
		return at, false
	}
	at = p.rounds.last(q.waits[0].since.Add(p.outcomes))
	if !q.urgent.IsZero() {
		if soon := q.urgent.Add(minPacing.outcomes); soon.Before(at) {
			at = soon
		}
	}
	return at, true
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

// drop removes the first n outcomes, whose commit is durable. Those that came meanwhile wait on, each as long as it may.
func (q *outcomeQueue) drop(n int) {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.list, q.waits, q.urgent = q.list[n:], q.waits[n:], time.Time{}
	for _, w := range q.waits {
		if !w.mayWait {
			q.urgent = w.since
			break
		}
	}
	if len(q.list) == 0 {
		q.list, q.waits = nil, nil
	}
}

// count returns how many outcomes have arrived in all.
func (q *outcomeQueue) count() uint64 {
	q.mu.Lock()
	defer q.mu.Unlock()
	return q.added
}

// isOpen reports whether one of the first n outcomes still waits for its commit.
func (q *outcomeQueue) isOpen(n uint64) bool {
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

// nextOutcomes returns the outcomes for the next step. Those that cancel runs say which of their attempts have been launched.
func (e *Engine) nextOutcomes() []job.Outcome {
	list := e.outcomes.peek(outcomesMax)
	if !slices.ContainsFunc(list, func(o job.Outcome) bool { return o.Cancelled != 0 }) {
		return list
	}
	list = slices.Clone(list) // the queue copies its own when it grows
	e.pad.VoidCancelled(list)
	return list
}
