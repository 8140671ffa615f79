package replication

import (
	"context"
	"encoding/json"
	"errors"
	"slices"
	"strings"
	"testing"
	"time"
)

// simKeys is the bucket of a cluster with several shards, of which the simulation runs one: the key of the shard says who
// took it, and the keys of the nodes renew it. The states of the shard's key are those of simRegister as well, because
// the checks ask it who has the lease.
type simKeys struct {
	*simRegister
	revision uint64
	log      []keyRecord // all states that keys ever had, in order
	begin    int         // of the states of this bucket in the log
	deaf     bool        // the watches do not show that the bucket was made anew, as those of NATS
}

// keyRecord is a state of a key and the instant from which it held.
type keyRecord struct {
	keyState
	since time.Duration
}

// asOfKey returns the state that a key had at an instant.
func (k *simKeys) asOfKey(key string, t time.Duration) keyState {
	for _, r := range slices.Backward(k.log) {
		if r.key == key && r.since <= t {
			return r.keyState
		}
	}
	return keyState{key: key}
}

// add stores a new state.
func (k *simKeys) add(key string, value []byte) uint64 {
	k.revision++
	k.log = append(k.log, keyRecord{keyState{key, value, k.revision}, k.now})
	return k.revision
}

// recreate empties the bucket: its revisions begin again.
func (k *simKeys) recreate() {
	if k.healed {
		return
	}
	k.simRegister.recreate()
	k.revision, k.begin = 0, len(k.log)
	if k.deaf = k.rng.IntN(2) == 0; k.deaf {
		k.saw("watch of a lost bucket shows nothing")
	}
	seen := make(map[string]bool)
	for _, r := range slices.Clone(k.log) {
		if !seen[r.key] {
			seen[r.key] = true
			k.log = append(k.log, keyRecord{keyState{key: r.key}, k.now})
		}
	}
}

// endEpoch ends the epoch of a node, as a node does that takes another shard of it, whether that is right or not.
func (k *simKeys) endEpoch(node string) {
	now := k.asOfKey(keyOfNode(node), k.now)
	var v nodeValue
	if now.revision == 0 || json.Unmarshal(now.value, &v) != nil || v.Process == "" {
		return
	}
	k.saw("epoch ended")
	v.Epoch, v.Process, v.Ended, v.Renewal, v.Shards = v.Epoch+1, "", v.Process, v.Renewal+1, nil
	k.add(now.key, v.encode())
}

// keysOfNode is the bucket as one node reaches it. It implements keys.
type keysOfNode struct {
	*simKeys
	node *simNode
}

func (k keysOfNode) put(ctx context.Context, key string, value []byte, revision uint64) (next uint64, err error) {
	reason, era := k.node.reason, k.era
	err = k.request(k.node, k.plan.lease, func() error {
		switch {
		case k.now < k.offTill || era != k.era:
			return errNoAnswer
		case k.asOfKey(key, k.now).revision != revision:
			return errLost
		}
		next = k.add(key, value)
		k.note("key "+string(value), uint64(k.node.index), next)
		if strings.HasPrefix(key, shardKeys) {
			k.took(value, next, reason)
		}
		return nil
	})
	k.node.feedLedger()
	return next, errors.Join(err, ctx.Err())
}

// took records a state of the shard's key for the checks.
func (k keysOfNode) took(value []byte, revision uint64, reason string) {
	v, err := decodeLease(value)
	if err != nil {
		panic(err)
	}
	now := k.current()
	switch {
	case v.Node == now.value.Node && v.Term == now.value.Term:
		reason = now.reason
	case now.value.Node == "" && k.node.leading: // written again into a bucket that was made anew
		reason = "written again"
	default:
		k.check.taken(k.node, v, now, reason)
	}
	k.set(v, revision, reason)
}

func (k keysOfNode) get(ctx context.Context, key string) (value []byte, revision uint64, err error) {
	err = k.request(k.node, k.plan.reads, func() error {
		at := k.now
		if k.chance(k.plan.staleLook) {
			at -= k.between(0, 3*time.Second)
			k.counts["stale look"]++
		}
		now := k.asOfKey(key, at)
		value, revision = now.value, now.revision
		if k.now < k.offTill {
			return errNoAnswer
		}
		return nil
	})
	k.node.feedLedger()
	return value, revision, errors.Join(err, ctx.Err())
}

func (k keysOfNode) watch(context.Context, string, func(keyState)) error {
	panic("simulation: the watch is looked at by the node's loop")
}

// newHostLease returns the lease of a node's process.
func (n *simNode) newHostLease(o *Options) *hostLease {
	n.fed = n.world.keys.begin
	return &hostLease{opts: o, cluster: testCluster, keys: keysOfNode{n.world.keys, n}, ledger: newLedger(o.Shards), warn: func(string, error) {}}
}

// feedLedger lets the ledger see, while a request of the member is under way, what the watch of the host has received. The
// member learns of it later, as in a process, where both have goroutines of their own.
func (n *simNode) feedLedger() {
	if n.host == nil || n.world.rng.IntN(2) == 0 {
		return
	}
	for n.nextKey(func(s keyState) { _ = n.host.ledger.see(s) }) {
		n.world.counts["the ledger saw more during a request"]++
	}
}

// nextKey passes the next state of a key that has reached this node on; it returns false if there is none.
func (n *simNode) nextKey(pass func(keyState)) bool {
	k := n.world.keys
	if !n.linked || n.fed >= len(k.log) || k.log[n.fed].since > n.world.now-n.watchDelay-n.lag {
		return false
	}
	s := k.log[n.fed].keyState
	if n.fed++; !k.deaf || s.revision != 0 {
		pass(s)
	}
	return true
}

// watchKeys passes on the states of the keys that have reached this node.
func (n *simNode) watchKeys() {
	l := n.host.ledger
	tell := func() {
		select {
		case <-l.shards[0].news:
			n.node.sawLease(l.lease(0))
		default:
		}
	}
	tell() // what the ledger saw during a request
	for n.nextKey(func(s keyState) { _ = l.see(s); tell() }) {
	}
}

// renewKeys is [hostLease.renewAll] for the one shard of this node, until ctx ends.
func (n *simNode) renewKeys(ctx context.Context) {
	n.host.led = []*Node{n.node}
	defer func() { n.host.led = nil }()
	for {
		n.world.sleep(dueEvery)
		if ctx.Err() != nil {
			return
		}
		n.watchKeys()
		ends := n.boot() + n.node.leadership.left(n.boot())
		_ = n.host.renewDue(ctx)
		if ctx.Err() != nil && n.launches { // and not because it hands over
			n.world.saw("deposed by the lease", uint64(n.index))
			if v, err := decodeNode(n.world.keys.asOfKey(keyOfNode(n.name), n.world.now).value); err == nil && v.Process == n.node.opts.Process {
				n.world.check.deposed(n, ends)
			}
		}
		if ctx.Err() != nil {
			return
		}
	}
}

// TestSimulationOfSeveral runs clusters with several shards, of which it simulates one: the nodes hold leases of nodes,
// and an epoch ends at any moment, as when another node takes another shard.
func TestSimulationOfSeveral(t *testing.T) {
	seeds := *simSeeds
	if testing.Short() {
		seeds = 30
	}
	runSimulations(t, "TestSimulationOfSeveral", seeds, simulateSeveral)
}

func simulateSeveral(seed uint64) *world {
	p := newPlan(seed)
	p.loud, p.several, p.ends = *simLoud, true, time.Duration(5+seed%40)*time.Second
	w := newWorld(p)
	w.run()
	return w
}
