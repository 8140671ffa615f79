package scheduler

import "github.com/carillon-io/carillon/job"

// onceDays is how many whole days an idempotency key is remembered at least.
const onceDays = 1

// onceCommits is how many commits the memory of keys reaches back: longer than any proposer takes
// between looking for a key in the store and proposing.
const onceCommits = 4096

// onceMemory holds the idempotency keys of the newest commits. The store holds all; but a proposer
// reads the store before its proposal is stepped, and this bridges the time between.
type onceMemory struct {
	runs  map[onceKey]job.RunID
	order []onceEntry // by LSN
	since uint64      // keys of commits after it are all here
}

type onceKey struct {
	id  job.ID
	key string
}

type onceEntry struct {
	lsn uint64
	key onceKey
}

func newOnceMemory() onceMemory { return onceMemory{runs: make(map[onceKey]job.RunID)} }

func (m *onceMemory) find(id job.ID, key string) (job.RunID, bool) {
	run, ok := m.runs[onceKey{id, key}]
	return run, ok
}

// covers tells whether a proposer that read the store at an LSN and found nothing can be believed.
func (m *onceMemory) covers(asOf uint64) bool { return asOf >= m.since }

func (m *onceMemory) add(lsn uint64, run job.RunID, key string) {
	k := onceKey{run.Job, key}
	m.runs[k] = run
	m.order = append(m.order, onceEntry{lsn, k})
}

// forget drops the keys that are too far back from an LSN.
func (m *onceMemory) forget(lsn uint64) {
	if lsn <= onceCommits {
		return
	}
	m.since = max(m.since, lsn-onceCommits)
	n := 0
	for n < len(m.order) && m.order[n].lsn <= m.since {
		delete(m.runs, m.order[n].key)
		n++
	}
	m.order = m.order[n:]
}
