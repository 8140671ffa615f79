package snapshot

import (
	"context"
	"fmt"

	"github.com/carillon-io/carillon/job"
)

// Checkpoint makes what is applied durable and returns the position up to which it is. The caller may
// then drop the log up to there, and not before: the flush is finished when Checkpoint returns. With
// nothing new it writes no file. It runs beside Apply; commits applied meanwhile may be in or not.
func (s *Store) Checkpoint(ctx context.Context) (job.Position, error) {
	if err := s.usable(); err != nil {
		return job.Position{}, err
	}
	at := s.Applied()
	durable, err := s.Durable()
	if err != nil || durable == at {
		return durable, err
	}
	flushed, err := s.db.AsyncFlush()
	if err != nil {
		return job.Position{}, fmt.Errorf("snapshot: flush: %w", err)
	}
	select {
	case <-flushed:
		return at, s.usable()
	case <-s.failedCh:
		return job.Position{}, s.usable()
	case <-ctx.Done():
		return job.Position{}, ctx.Err()
	}
}

// Metrics are readings of the store for its operator.
type Metrics struct {
	DiskBytes              uint64
	MemTableBytes          uint64
	L0Sublevels            int    // many mean that compactions do not keep up
	CompactionDebt         uint64 // bytes that compactions have yet to rewrite
	Flushes                int64
	Stalls                 uint64 // times that writers had to wait
	WriteAmplification     float64
	CacheHits, CacheMisses int64
}

// Metrics returns readings of the store. It takes microseconds.
func (s *Store) Metrics() Metrics {
	m := s.db.Metrics()
	total := m.Total()
	return Metrics{
		DiskBytes: m.DiskSpaceUsage(), MemTableBytes: m.MemTable.Size,
		L0Sublevels: int(m.Levels[0].Sublevels), CompactionDebt: m.Compact.EstimatedDebt,
		Flushes: m.Flush.Count, Stalls: s.stalls.Load(), WriteAmplification: total.WriteAmp(),
		CacheHits: m.BlockCache.Hits, CacheMisses: m.BlockCache.Misses,
	}
}
