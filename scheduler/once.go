package scheduler

import "github.com/carillon-io/carillon/job"

// onceDays is how many whole days an idempotency key is remembered at least.
const onceDays = 1

// recentCommits is how many commits a memory reaches back: longer than any proposer takes between
// reading the store and proposing.
const recentCommits = 4096

// recentMemory holds what the newest commits decided under a key. The store holds it all; but a proposer
// reads the store before its proposal is stepped, and this bridges the time between.
type recentMemory[K comparable, V any] struct {
	values map[K]recentValue[V]
	order  []recentEntry[K] // by LSN
	since  uint64           // what commits after it decided is all here
}

type recentValue[V any] struct {
	lsn   uint64
	value V
}

type recentEntry[K comparable] struct {
	lsn uint64
	key K
}

// onceKey is an idempotency key of a job.
type onceKey struct {
	id  job.ID
	key string
}

func newRecentMemory[K comparable, V any]() recentMemory[K, V] {
	return recentMemory[K, V]{values: make(map[K]recentValue[V])}
}

func (m *recentMemory[K, V]) find(key K) (V, bool) {
	v, ok := m.values[key]
	return v.value, ok
}

// covers tells whether a proposer that read the store at an LSN and found nothing can be believed.
func (m *recentMemory[K, V]) covers(asOf uint64) bool { return asOf >= m.since }

func (m *recentMemory[K, V]) add(lsn uint64, key K, v V) {
	m.values[key] = recentValue[V]{lsn, v}
	m.order = append(m.order, recentEntry[K]{lsn, key})
}

// forget drops what is too far back from an LSN.
func (m *recentMemory[K, V]) forget(lsn uint64) {
	if lsn <= recentCommits {
		return
	}
	m.since = max(m.since, lsn-recentCommits)
	n := 0
	for n < len(m.order) && m.order[n].lsn <= m.since {
		if e := m.order[n]; m.values[e.key].lsn == e.lsn {
			delete(m.values, e.key)
		}
		n++
	}
	m.order = m.order[n:]
}
