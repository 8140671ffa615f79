package shard

import (
	"sync"

	"github.com/carillon-io/carillon/job"
)

// recentPositions are the positions of the newest commits, so that a node that takes over need not read the log
// for them. Safe for concurrent use.
type recentPositions struct {
	mu   sync.Mutex
	ring [recentMost]job.Position
}

const recentMost = 1 << 10

func (r *recentPositions) note(at job.Position) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.ring[at.LSN%recentMost] = at
}

func (r *recentPositions) find(lsn uint64) (job.Position, bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	at := r.ring[lsn%recentMost]
	return at, at.LSN == lsn && lsn > 0
}

func (r *recentPositions) forget() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.ring = [recentMost]job.Position{}
}
