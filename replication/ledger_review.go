package replication

import "strings"

// A bucket that is lost and made anew begins its revisions again, and a watch of NATS shows nothing of it until they have reached
// those that it has shown: for weeks, if the bucket was old. Until then what a process knows of the lost bucket would stand
// against all that is true. So each process compares from time to time what it knows with all that the bucket has: where it knows
// a later revision than the bucket has, the bucket was made anew.

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

// review takes over what the bucket has, where it was made anew. Before are the revisions that were known before the states were
// asked for: so one that is later than the bucket's proves it. What was seen meanwhile stays.
func (l *ledger) review(states []keyState, before map[string]uint64) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, s := range states {
		if s.revision < before[s.key] {
			l.forget(s.key, before[s.key])
		}
	}
	for _, s := range states {
		_ = l.seeLocked(s) // what cannot be read is no lease
	}
}

// forget removes what is known of a key if that is still a revision. The caller holds the mutex.
func (l *ledger) forget(key string, revision uint64) {
	if name, ok := strings.CutPrefix(key, nodeKeys); ok && l.nodes[name].revision == revision {
		delete(l.nodes, name)
	}
	if at := l.shardOf(key); at != nil && at.revision == revision {
		at.value, at.revision, at.lease = leaseValue{}, 0, leaseSeen{}
		at.era++
	}
}
