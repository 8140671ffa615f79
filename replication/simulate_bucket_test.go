package replication

import (
	"context"
	"encoding/json"
	"errors"
	"slices"
	"strings"
	"time"
)

// simBucket is what all keys of the bucket share.
type simBucket struct {
	offTill time.Duration // until then no server leads it
	era     int           // number of buckets so far
}

// simKeys is the bucket of a cluster with several shards: the key of a shard says who took it, the keys of the nodes renew it,
// and those of the places say who holds copies. The states of a shard's key are those of its simRegister as well, because the
// checks ask it who has the lease.
type simKeys struct {
	*ground
	revision uint64
	log      []keyRecord            // all states that keys ever had, in order
	states   map[string][]keyRecord // the same for each key
	begin    int                    // of the states of this bucket in the log
	deaf     bool                   // the watches do not show that the bucket was made anew, as those of NATS
	mute     bool                   // nor do they show what comes after, until the revisions have reached those that they have shown
	overseer *overseer              // of a simulation of all shards; nil: none
}

// keyRecord is a state of a key and the instant from which it held.
type keyRecord struct {
	keyState
	since time.Duration
}

// asOfKey returns the state that a key had at an instant.
func (k *simKeys) asOfKey(key string, t time.Duration) keyState {
	for _, r := range slices.Backward(k.states[key]) {
		if r.since <= t {
			return r.keyState
		}
	}
	return keyState{key: key}
}

// add stores a new state.
func (k *simKeys) add(key string, value []byte) uint64 {
	k.revision++
	k.record(keyState{key, value, k.revision})
	return k.revision
}

func (k *simKeys) record(s keyState) {
	if k.states == nil {
		k.states = make(map[string][]keyRecord)
	}
	k.log = append(k.log, keyRecord{s, k.now})
	k.states[s.key] = append(k.states[s.key], keyRecord{s, k.now})
}

// newest returns the present states of the keys, which a watch shows first.
func (k *simKeys) newest() (states []keyState) {
	for _, r := range k.log[k.begin:] {
		if r.revision != 0 && r.revision == k.asOfKey(r.key, k.now).revision {
			states = append(states, r.keyState)
		}
	}
	return states
}

// recreate empties the bucket: its revisions begin again.
func (k *simKeys) recreate() {
	if k.healed {
		return
	}
	k.saw("bucket made anew")
	k.bucket.era++
	for _, w := range k.worlds {
		w.lease.set(leaseValue{}, 0, "")
	}
	k.revision, k.begin = 0, len(k.log)
	if k.overseer != nil {
		clear(k.overseer.ended) // epochs begin again
	}
	if k.deaf = k.rng.IntN(2) == 0; k.deaf {
		if k.saw("watch of a lost bucket shows nothing"); k.overseer != nil {
			k.mute = k.rng.IntN(2) == 0
		}
	}
	seen := make(map[string]bool)
	for _, r := range slices.Clone(k.log) {
		if !seen[r.key] {
			seen[r.key] = true
			k.record(keyState{key: r.key})
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

// keysOfNode is the bucket as one machine reaches it. It implements keys.
type keysOfNode struct {
	*simKeys
	machine *machine
}

func (k keysOfNode) put(ctx context.Context, key string, value []byte, revision uint64) (next uint64, err error) {
	reason, era := "", k.bucket.era
	if shard, ok := strings.CutPrefix(key, shardKeys); ok {
		reason = k.machine.members[shard[0]-'0'].reason
	}
	k.overseer.decides(k.machine, key, value)
	err = k.request(k.machine, k.plan.lease, func() error {
		now := k.asOfKey(key, k.now)
		switch {
		case k.now < k.bucket.offTill || era != k.bucket.era:
			return errNoAnswer
		case now.revision != revision:
			return errLost
		}
		next = k.add(key, value)
		k.note("key "+string(value), uint64(k.machine.index), next)
		if strings.HasPrefix(key, shardKeys) {
			k.took(value, next, reason)
		}
		k.overseer.stored(k.machine, now, value)
		return nil
	})
	k.machine.feedLedger()
	return next, errors.Join(err, canceled(ctx))
}

// canceled returns the error of a context that was canceled. Its deadline is in a time that the simulation does not have.
func canceled(ctx context.Context) error {
	if errors.Is(ctx.Err(), context.Canceled) {
		return ctx.Err()
	}
	return nil
}

// took records a state of a shard's key for the checks.
func (k keysOfNode) took(value []byte, revision uint64, reason string) {
	v, err := decodeLease(value)
	if err != nil {
		panic(err)
	}
	w := k.worlds[v.Shard]
	node, now := w.nodes[k.machine.index], w.lease.current()
	switch {
	case v.Node == now.value.Node && v.Term == now.value.Term:
		reason = now.reason
	case v.Process == node.node.leadership.value.Process && v.Term == node.node.leadership.value.Term: // written again into a bucket that was made anew or has gone back
		reason = "written again"
	default:
		w.check.taken(node, v, now, reason)
		k.overseer.taken(node, &now.value)
	}
	w.lease.set(v, revision, reason)
}

func (k keysOfNode) get(ctx context.Context, key string) (value []byte, revision uint64, err error) {
	err = k.request(k.machine, k.plan.reads, func() error {
		at := k.now
		if k.chance(k.plan.staleLook) {
			at -= k.between(0, 3*time.Second)
			k.counts["stale look"]++
		}
		now := k.asOfKey(key, at)
		value, revision = now.value, now.revision
		if k.now < k.bucket.offTill {
			return errNoAnswer
		}
		return nil
	})
	k.machine.feedLedger()
	return value, revision, errors.Join(err, canceled(ctx))
}

func (k keysOfNode) list(ctx context.Context, match string) (states []keyState, err error) {
	err = k.request(k.machine, k.plan.reads, func() error {
		if k.now < k.bucket.offTill {
			return errNoAnswer
		}
		for _, s := range k.newest() {
			if strings.HasPrefix(s.key, strings.TrimSuffix(match, ">")) {
				states = append(states, s)
			}
		}
		return nil
	})
	return states, errors.Join(err, canceled(ctx))
}

func (k keysOfNode) watch(context.Context, string, func(keyState)) error {
	panic("simulation: the watch is looked at by the node's loop")
}
