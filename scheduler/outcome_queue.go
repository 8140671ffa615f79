package scheduler

import (
	"sync"
	"time"

	"github.com/carillon-io/carillon/job"
)

// outcomeQueue holds outcomes until the loop takes them. It is bounded by the number of live runs.
type outcomeQueue struct {
	ready chan struct{}
	mu    sync.Mutex
	list  []job.Outcome
	since time.Time // of the oldest
}

func (q *outcomeQueue) add(o job.Outcome) {
	q.mu.Lock()
	if len(q.list) == 0 {
		q.since = time.Now()
	}
	q.list = append(q.list, o)
	n := len(q.list)
	q.mu.Unlock()
	if n == 1 || n == outcomesMax {
		signal(q.ready)
	}
}

func (q *outcomeQueue) oldest() (time.Time, bool) {
	q.mu.Lock()
	defer q.mu.Unlock()
	return q.since, len(q.list) > 0
}

func (q *outcomeQueue) isFull() bool {
	q.mu.Lock()
	defer q.mu.Unlock()
	return len(q.list) >= outcomesMax
}

// peek returns the oldest outcomes, good until drop.
func (q *outcomeQueue) peek(most int) []job.Outcome {
	q.mu.Lock()
	defer q.mu.Unlock()
	return q.list[:min(most, len(q.list))]
}

func (q *outcomeQueue) drop(n int) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.list = q.list[n:]; len(q.list) == 0 {
		q.list = nil
	}
	q.since = time.Now()
}
