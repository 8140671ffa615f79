package schedule

import "sync"

// intern is a bounded cache of compiled values, safe for concurrent use. It has two generations. When the young one
// is full it becomes the old one, and the old one is dropped; a value that is used again moves to the young one. So
// values in use stay cached, without counting uses. An exact order of use would need a lock that every reader writes
// to.
//
// Invariant: young has at most limit entries, and old too.
type intern[K comparable, V any] struct {
	mu    sync.RWMutex
	limit int // entries of one generation
	young map[K]V
	// old is only read, and nil until the first change of generations.
	old map[K]V
}

// newIntern returns an empty cache. limit must be positive; the cache holds at most twice as many entries.
func newIntern[K comparable, V any](limit int) *intern[K, V] {
	return &intern[K, V]{limit: limit, young: make(map[K]V)}
}

// get returns the cached value of a key; false if there is none. A value that is found in the old generation is put
// under another lock, so two readers may both put it, which does no harm.
func (c *intern[K, V]) get(key K) (V, bool) {
	c.mu.RLock()
	v, ok := c.young[key]
	if ok {
		c.mu.RUnlock()
		return v, true
	}
	v, ok = c.old[key]
	c.mu.RUnlock()
	if ok {
		c.put(key, v)
	}
	return v, ok
}

// put caches the value of a key. Of two puts of one key either may win, because the values are interchangeable.
func (c *intern[K, V]) put(key K, v V) {
	c.mu.Lock()
	defer c.mu.Unlock()
	// The old generation is dropped as a whole: what was used since it became old has moved to the young one.
	if len(c.young) >= c.limit {
		c.old, c.young = c.young, make(map[K]V, c.limit)
	}
	c.young[key] = v
}
