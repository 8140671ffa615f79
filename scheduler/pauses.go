package scheduler

import (
	"sync"

	"github.com/carillon-io/carillon/job"
	"github.com/carillon-io/carillon/scheduler/core"
)

// pauseQueue holds the jobs that failed too often and are to be paused, each once. It is bounded by the number of
// failing jobs, which the core counts anyway. Safe for concurrent use. The loop adds while it must not block, so the
// queue is a list and not a channel of fixed size.
type pauseQueue struct {
	ready chan struct{} // of capacity 1: the queue is not empty

	mu      sync.Mutex
	list    []core.AutoPause
	waiting map[job.ID]struct{}
}

func newPauseQueue() *pauseQueue {
	return &pauseQueue{ready: make(chan struct{}, 1), waiting: make(map[job.ID]struct{})}
}

// add appends a job to the queue, unless it is there.
func (q *pauseQueue) add(p core.AutoPause) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if _, there := q.waiting[p.ID]; there {
		return
	}
	q.waiting[p.ID] = struct{}{}
	q.list = append(q.list, p)
	notify(q.ready)
}

// next removes and returns the first job of the queue; false if it is empty.
func (q *pauseQueue) next() (p core.AutoPause, ok bool) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if len(q.list) == 0 {
		q.list = nil
		return p, false
	}
	p, q.list = q.list[0], q.list[1:]
	delete(q.waiting, p.ID)
	if len(q.list) > 0 {
		notify(q.ready)
	}
	return p, true
}
