package snapshot

import (
	"sync"
	"time"

	"github.com/cockroachdb/pebble/v2"
)

// Metrics are readings of a store for its operator. Counters count from Open.
type Metrics struct {
	DiskBytes          uint64        // size of all files, including those that are still to be removed
	MemTableBytes      uint64        // memory of the memtables in use
	MemTables          int64         // number of memtables; all but one of them wait to be flushed
	CacheBytes         int64         // memory of cached blocks
	CacheHits          int64         // reads of a block that was in the cache
	CacheMisses        int64         // reads of a block that was not
	L0Sublevels        int           // a high number means that compactions do not keep up; at 60 writers stall
	CompactionDebt     uint64        // bytes that compactions have yet to rewrite, estimated
	Compactions        int64         // number of compactions finished
	Flushes            int64         // number of flushes finished
	FlushedBytes       uint64        // written by flushes
	CompactedBytes     uint64        // written by compactions
	WriteAmplification float64       // bytes written to tables for each byte applied; 0 before the first flush
	Tombstones         uint64        // deletions that compactions have yet to drop
	Stalls             uint64        // times that Apply had to wait for flushes or compactions
	StallTime          time.Duration // total time of those waits, including a present one
	Applied, Durable   uint64        // LSNs of the applied and of the durable position
}

// Metrics returns readings of the store. It may wait for the sync of a flush that is being installed, so
// it must not be called on the path of a tick. After Close and after a failure only the stalls and the
// LSNs are set.
func (s *Store) Metrics() Metrics {
	var m Metrics
	if s.gate.enter() {
		m = s.readMetrics()
		s.gate.leave()
	}
	m.Stalls, m.StallTime = s.stalls.read(time.Now())
	m.Applied, m.Durable = s.Applied().LSN, s.Durable().LSN
	return m
}

// readMetrics reads Pebble's metrics. The caller must be inside the gate.
func (s *Store) readMetrics() Metrics {
	var p *pebble.Metrics
	err := s.fault.run(func() error {
		p = s.db.Metrics()
		return nil
	})
	if err != nil {
		return Metrics{}
	}
	m := Metrics{
		DiskBytes:      p.DiskSpaceUsage(),
		MemTableBytes:  p.MemTable.Size,
		MemTables:      p.MemTable.Count,
		CacheBytes:     p.BlockCache.Size,
		CacheHits:      p.BlockCache.Hits,
		CacheMisses:    p.BlockCache.Misses,
		L0Sublevels:    int(p.Levels[0].Sublevels),
		CompactionDebt: p.Compact.EstimatedDebt,
		Compactions:    p.Compact.Count,
		Flushes:        p.Flush.Count,
		Tombstones:     p.Keys.TombstoneCount,
	}
	for i := range p.Levels {
		m.FlushedBytes += p.Levels[i].TableBytesFlushed
		m.CompactedBytes += p.Levels[i].TableBytesCompacted
	}
	if in := p.Levels[0].TableBytesIn; in > 0 {
		m.WriteAmplification = float64(m.FlushedBytes+m.CompactedBytes) / float64(in)
	}
	return m
}

// stalls measures how long writers had to wait. Pebble calls begin and end alternately, with its own mutex
// held, so they must return at once. The zero value is ready and has counted none.
type stalls struct {
	mu    sync.Mutex
	count uint64        // stalls begun
	total time.Duration // of the stalls that have ended
	since time.Time     // beginning of the present stall; zero if there is none
}

func (s *stalls) begin() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.count++
	s.since = time.Now()
}

func (s *stalls) end() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.total += time.Since(s.since)
	s.since = time.Time{}
}

// read returns the number of stalls and their total time, including a present one up to now.
func (s *stalls) read(now time.Time) (count uint64, total time.Duration) {
	s.mu.Lock()
	defer s.mu.Unlock()
	total = s.total
	if !s.since.IsZero() {
		total += now.Sub(s.since)
	}
	return s.count, total
}
