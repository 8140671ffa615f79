package scheduler

import (
	"errors"
	"maps"
	"slices"
	"sort"
	"sync"

	"github.com/carillon-io/carillon/job"
)

// memStore is a Store in memory, for driving the engine in virtual time. The real one has its own
// tests; this one is as simple as can be.
type memStore struct {
	mu      sync.Mutex
	rows    map[string][]byte
	applied job.Position
}

func newMemStore() *memStore { return &memStore{rows: make(map[string][]byte)} }

func (s *memStore) Apply(at job.Position, batch []byte) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.applied = at
	return job.Changes(batch, func(c job.Change) error {
		switch c.Op {
		case job.OpPut:
			s.rows[string(c.Key)] = slices.Clone(c.Value)
		case job.OpDelete:
			delete(s.rows, string(c.Key))
		case job.OpDeleteRange:
			maps.DeleteFunc(s.rows, func(k string, _ []byte) bool { return k >= string(c.Key) && k < string(c.Value) })
		}
		return nil
	})
}

func (s *memStore) Applied() job.Position {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.applied
}

func (s *memStore) Get(key []byte) ([]byte, bool, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	v, ok := s.rows[string(key)]
	return slices.Clone(v), ok, nil
}

func (s *memStore) Scan(low, high []byte, fn func(key, value []byte) (bool, error)) error {
	s.mu.Lock()
	var keys []string
	rows := make(map[string][]byte)
	for k, v := range s.rows {
		if k >= string(low) && (high == nil || k < string(high)) {
			keys, rows[k] = append(keys, k), v
		}
	}
	s.mu.Unlock()
	sort.Strings(keys)
	for _, k := range keys {
		if more, err := fn([]byte(k), rows[k]); err != nil || !more {
			return err
		}
	}
	return nil
}

// memLog is a Log that only counts, and that can be told to fail.
type memLog struct {
	lsn  uint64
	fail bool
}

var errDiskGone = errors.New("the disk is gone")

func (l *memLog) Append(epoch uint64, _ []byte) (job.Position, error) {
	if l.fail {
		return job.Position{}, errDiskGone
	}
	l.lsn++
	return job.Position{LSN: l.lsn, Epoch: epoch}, nil
}
