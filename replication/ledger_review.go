package replication

import (
	"strings"
	"time"
)

// A bucket that is lost and made anew begins its revisions again, and a watch of NATS shows nothing of it until they have reached
// those that it has shown: for weeks, if the bucket was old. Until then what a process knows of the lost bucket would stand
// against all that is true. So each process compares from time to time what it knows with all that the bucket has: where it knows
// a later revision than the bucket has, the bucket was made anew. So it is with a bucket that has gone back, because its NATS
// did not sync and has lost the last seconds.

// revisions returns the revisions of the keys as they were last seen.
func (l *ledger) revisions() map[string]uint64 {
	l.mu.Lock()
	defer l.mu.Unlock()
	known := make(map[string]uint64)
	for n, at := range l.shards {
		known[keyOfShard(n)] = at.revision
	}
	for name, at := range l.nodes {
		known[keyOfNode(name)] = at.revision
	}
	return known
}

// review takes over what the bucket has, where it was made anew or has gone back, and reports whether it was or has. Before are
// the revisions that were known before the states were asked for: so one that is later than the bucket's proves it. What was
// seen meanwhile stays.
func (l *ledger) review(states []keyState, before map[string]uint64, now time.Duration) (isBack bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, s := range states {
		if s.revision < before[s.key] && l.forget(s.key, before[s.key], now) {
			isBack = true
		}
	}
	if isBack {
		l.top = 0
	}
	for _, s := range states {
		_ = l.seeLocked(s) // what cannot be read is no lease
	}
	return isBack
}

// newest returns the greatest revision that was seen. Each later write has a greater one, unless the bucket has gone back.
func (l *ledger) newest() uint64 {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.top
}

// goesBack notes that revisions begin again, after one.
func (l *ledger) goesBack(to uint64) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.top = to
}

// forget removes what is known of a key if that is still a revision, and reports whether it was. The caller holds the mutex.
func (l *ledger) forget(key string, revision uint64, now time.Duration) bool {
	if name, ok := strings.CutPrefix(key, nodeKeys); ok && l.nodes[name].revision == revision {
		delete(l.nodes, name)
		return true
	}
	if at := l.shardOf(key); at != nil && at.revision == revision {
		at.value, at.lease, at.back = leaseValue{}, leaseSeen{}, now
		at.moveTo(0)
		return true
	}
	return false
}
