package embedded

import (
	"slices"
	"sort"
	"sync"

	"github.com/carillon-io/carillon/job"
)

// memory is the log and the store of a [Test]: sorted rows in memory, nothing durable. It fulfils the
// same contracts as the real log and store. It is safe for concurrent use.
type memory struct {
	mu      sync.RWMutex
	keys    []string // sorted
	values  map[string][]byte
	applied job.Position
	logged  uint64 // LSN
}

func newMemory() *memory { return &memory{values: make(map[string][]byte)} }

// Append implements scheduler.Log.
func (m *memory) Append(epoch uint64, _ []byte) (job.Position, error) {
	m.logged++
	return job.Position{LSN: m.logged, Epoch: epoch}, nil
}

// Apply implements scheduler.Store.
func (m *memory) Apply(at job.Position, batch []byte) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.applied = at
	return job.Changes(batch, func(c job.Change) error {
		switch c.Op {
		case job.OpPut:
			m.put(string(c.Key), slices.Clone(c.Value))
		case job.OpDelete:
			m.remove(string(c.Key), string(c.Key)+"\x00")
		case job.OpDeleteRange:
			m.remove(string(c.Key), string(c.Value))
		}
		return nil
	})
}

func (m *memory) put(key string, value []byte) {
	if _, there := m.values[key]; !there {
		m.keys = slices.Insert(m.keys, m.find(key), key)
	}
	m.values[key] = value
}

// remove deletes the rows in [low, high).
func (m *memory) remove(low, high string) {
	from, to := m.find(low), m.find(high)
	for _, key := range m.keys[from:max(from, to)] {
		delete(m.values, key)
	}
	m.keys = slices.Delete(m.keys, from, max(from, to))
}

// find returns the index of the first key that is not below key.
func (m *memory) find(key string) int { return sort.SearchStrings(m.keys, key) }

// Applied implements scheduler.Store.
func (m *memory) Applied() job.Position {
	m.mu.RLock()
	defer m.mu.RUnlock()
	return m.applied
}

// Get implements scheduler.Store.
func (m *memory) Get(key []byte) ([]byte, bool, error) {
	m.mu.RLock()
	defer m.mu.RUnlock()
	value, ok := m.values[string(key)]
	return slices.Clone(value), ok, nil
}

// Scan implements scheduler.Store. It searches its place anew for each row and does not hold the mutex
// while fn runs, so that other goroutines can write meanwhile.
func (m *memory) Scan(low, high []byte, fn func(key, value []byte) (bool, error)) error {
	for key, value, ok := m.first(string(low)); ok && (high == nil || key < string(high)); {
		if more, err := fn([]byte(key), value); err != nil || !more {
			return err
		}
		key, value, ok = m.first(key + "\x00")
	}
	return nil
}

// first returns the first row whose key is not below low. The caller may keep the value: values are
// replaced, never changed.
func (m *memory) first(low string) (key string, value []byte, ok bool) {
	m.mu.RLock()
	defer m.mu.RUnlock()
	i := m.find(low)
	if i == len(m.keys) {
		return "", nil, false
	}
	return m.keys[i], m.values[m.keys[i]], true
}
