package replication

import (
	"errors"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"
)

// ledger combines the keys of the bucket into the leases of the shards, in a cluster with several shards: the key of a
// shard says which node took it, and the key of that node renews it. Safe for concurrent use.
//
// A lease is renewed as long as the key of its node has the process and the epoch that took it, and lists the shard with
// its term. Once that is over it stays as it was last seen, so a node that goes on renewing its other shards, or that
// starts again, never prolongs it. A ledger that may have missed renewals before the end does not know the last heirs:
// then the lease names none, and counts as renewed when the ledger learns of the end.
//
// The revision of a lease is the greatest of its two keys. The revisions of a bucket grow over all keys, so each change
// of a lease has a greater one than the change before.
type ledger struct {
	mu     sync.Mutex
	shards map[uint32]*shardState
	nodes  map[string]nodeState
	top    uint64 // greatest revision that was seen since the bucket was last found to have gone back
}

// shardState is what the ledger knows of a shard.
type shardState struct {
	value    leaseValue // of its key, as it was last readable
	revision uint64     // of its key; 0: there is none
	earlier  [8]uint64  // the revisions that its key had before, also in a bucket that was lost: a ring
	changes  int        // how often it got another one
	lease    leaseSeen
	renewal  uint64        // renewal of the node's key that renewed it last, or when it was taken
	renewed  bool          // the node's key has renewed it since it was taken
	over     bool          // the node's key renews it no more
	back     time.Duration // see leaseSeen
	news     chan struct{} // capacity 1; has an element if the lease has changed since the watcher last read it
}

// nodeState is what the ledger knows of a node.
type nodeState struct {
	value    nodeValue
	revision uint64 // of its key; 0: there is none
}

// nodesMost bounds the nodes in a ledger, because any program that may write to the bucket can name nodes that do not
// exist.
const nodesMost = 4 * peersMost

func newLedger(shards int) *ledger {
	l := &ledger{shards: make(map[uint32]*shardState), nodes: make(map[string]nodeState)}
	for n := range uint32(shards) {
		l.shards[n] = &shardState{news: make(chan struct{}, 1)}
	}
	return l
}

// The names of the keys are shard.<number> and node.<name>.
const (
	shardKeys = "shard."
	nodeKeys  = "node."
)

// keyOfNode returns the key with which a node renews the leases of its shards.
func keyOfNode(node string) string { return nodeKeys + node }

// see records a state of a key. It returns the reason that a value cannot be read; of a key that is none of a lease, nil.
func (l *ledger) see(s keyState) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.seeLocked(s)
}

func (l *ledger) seeLocked(s keyState) error {
	l.top = max(l.top, s.revision)
	if at := l.shardOf(s.key); at != nil {
		return l.seeShard(at, s)
	}
	if name, ok := strings.CutPrefix(s.key, nodeKeys); ok {
		return l.seeNode(name, s)
	}
	return nil
}

// shardOf returns the state of the shard that has a key; nil if it is that of none.
func (l *ledger) shardOf(key string) *shardState {
	number, ok := strings.CutPrefix(key, shardKeys)
	if n, err := strconv.ParseUint(number, 10, 32); ok && err == nil {
		return l.shards[uint32(n)]
	}
	return nil
}

// seeShard records a state of the key of a shard. A state that is not newer changes nothing, unless its value is newer:
// then the bucket was made anew, and its revisions began again.
func (l *ledger) seeShard(at *shardState, s keyState) error {
	if s.revision == 0 {
		at.value = leaseValue{}
		at.moveTo(0)
		at.show(leaseSeen{})
		return nil
	}
	v, err := decodeLease(s.value)
	switch {
	case errors.Is(err, errDamagedLease):
		if s.revision > at.revision {
			at.moveTo(s.revision)
			at.show(leaseSeen{revision: s.revision, damaged: true})
		}
		return err
	case err != nil:
		return err
	case s.revision > at.revision || v.after(at.value):
		at.value = v
		at.moveTo(s.revision)
		at.renewal, at.renewed, at.over = v.Renewal, false, false
		at.value.Heirs = append([]string{}, v.Heirs...) // releases before this one write null
		v.Heirs = at.value.Heirs
		at.show(leaseSeen{value: v, revision: s.revision})
		at.combine(l.nodes[v.Node])
	}
	return nil
}

// moveTo sets the revision of the key.
func (at *shardState) moveTo(revision uint64) {
	at.earlier[at.changes%len(at.earlier)] = at.revision
	at.revision = revision
	at.changes++
}

// had returns the revision of the key of a shard, and the last ones before it.
func (l *ledger) had(shard uint32) []uint64 {
	l.mu.Lock()
	defer l.mu.Unlock()
	return append(slices.Clone(l.shards[shard].earlier[:]), l.shards[shard].revision)
}

// seeNode records a state of the key of a node.
func (l *ledger) seeNode(name string, s keyState) error {
	v, err := decodeNode(s.value)
	if s.revision != 0 && err != nil {
		return err
	}
	switch old, known := l.nodes[name]; {
	case s.revision == 0:
		delete(l.nodes, name)
	case known && s.revision <= old.revision && !v.after(old.value), !known && len(l.nodes) >= nodesMost:
	default:
		l.nodes[name] = nodeState{v, s.revision}
		for _, at := range l.shards {
			if at.value.Node == name && at.revision != 0 {
				at.combine(l.nodes[name])
			}
		}
	}
	return nil
}

// combine computes the lease of a shard when the key of its node has changed, or is known for the first time.
func (at *shardState) combine(node nodeState) {
	v := at.value
	v.Renewal = max(v.Renewal, node.value.Renewal)
	heirs, renews := node.value.renews(&at.value)
	isOwn := node.value.Process == v.Process && node.value.Epoch == v.Epoch
	switch {
	case node.revision == 0 || v.Released: // what is given up is not renewed
		return
	case renews:
		v.Heirs, at.renewal, at.renewed, at.over = heirs, node.value.Renewal, true, false
	case at.over:
		return
	case isOwn && !at.renewed: // the process has just taken it, and begins to renew it
		at.renewal = max(at.renewal, node.value.Renewal)
		return
	case !isOwn && !node.value.hasEnded(v.Process, v.Epoch):
		return // a state from before the lease was taken, perhaps of a bucket that was lost: its revision says nothing
	default:
		at.over = true
		if node.value.Renewal == at.renewal+1 {
			return // nothing was missed
		}
		v.Heirs = []string{}
	}
	if revision := max(at.revision, node.revision); revision > at.lease.revision || v.after(at.lease.value) {
		at.show(leaseSeen{value: v, revision: revision})
	}
}

func (at *shardState) show(lease leaseSeen) {
	at.lease, at.lease.back = lease, at.back
	select {
	case at.news <- struct{}{}:
	default:
	}
}

// lease returns the lease of a shard as it was last seen.
func (l *ledger) lease(shard uint32) leaseSeen {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.shards[shard].lease
}

// claimed returns what a claim of a shard goes by, as of one moment: the lease, the value and the revision of the shard's key, and
// the state of the holder's node.
func (l *ledger) claimed(shard uint32) (lease leaseSeen, held leaseValue, revision uint64, holder nodeState) {
	l.mu.Lock()
	defer l.mu.Unlock()
	at := l.shards[shard]
	return at.lease, at.value, at.revision, l.nodes[at.value.Node]
}

// own returns the value and the revision of the key of a shard as they were last seen.
func (l *ledger) own(shard uint32) (leaseValue, uint64) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.shards[shard].value, l.shards[shard].revision
}

// node returns what the ledger knows of a node.
func (l *ledger) node(name string) nodeState {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.nodes[name]
}
