package core

import "github.com/carillon-io/carillon/job"

// OnceDays is the least number of whole days for which an idempotency key is remembered.
const OnceDays = 1

// recentCommits is how many commits a recentMemory covers: more than pass between a proposer's read of the store and
// its proposal. A proposer that is slower is not refused: its proposal is stale, and it reads again. A larger number
// costs memory for each key; a smaller one makes slow proposers read twice.
const recentCommits = 4096

// recentMemory holds what the newest commits decided, by key. The store has it too, but a proposer reads the store
// before its proposal is stepped; the memory covers the commits in between. It is not in the log: a new leader begins
// with an empty memory that covers only what it decides itself.
type recentMemory[K comparable, V any] struct {
	values map[K]recentValue[V]
	order  []recentEntry[K] // by LSN
	since  uint64           // everything that later commits decided is here
}

// recentValue is the newest value of a key, with the LSN of the commit that decided it.
type recentValue[V any] struct {
	lsn   uint64
	value V
}

// recentEntry says when a key was added. A key that was added again has an entry for each time, and only the newest of
// them removes the value.
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

// find returns the value of a key; false means none in the commits that the memory covers, and nothing about older
// ones.
func (m *recentMemory[K, V]) find(key K) (V, bool) {
	v, ok := m.values[key]
	return v.value, ok
}

// covers reports whether the result of a proposer that read the store at asOf and found nothing is still valid if the
// memory has nothing either.
func (m *recentMemory[K, V]) covers(asOf uint64) bool { return asOf >= m.since }

// add records a value. LSNs must not decrease from call to call, because forget reads the entries in order.
func (m *recentMemory[K, V]) add(lsn uint64, key K, v V) {
	m.values[key] = recentValue[V]{lsn, v}
	m.order = append(m.order, recentEntry[K]{lsn, key})
}

// forget drops entries that are too old at an LSN.
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
