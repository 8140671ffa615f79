package replication

import (
	"context"
	"errors"
	"testing"
)

// racingKeys is a bucket with compare-and-set. While the key of a shard is read, the holder renews, and the ledger sees that, as
// when the watch of the host goes on during a request.
type racingKeys struct {
	values   map[string]keyState
	revision uint64
	during   func()
}

func (k *racingKeys) put(_ context.Context, key string, value []byte, revision uint64) (uint64, error) {
	if k.values[key].revision != revision {
		return 0, errLost
	}
	k.revision++
	k.values[key] = keyState{key, value, k.revision}
	return k.revision, nil
}

func (k *racingKeys) get(_ context.Context, key string) (value []byte, revision uint64, err error) {
	if during := k.during; during != nil && key == keyOfShard(0) {
		k.during = nil
		during()
	}
	return k.values[key].value, k.values[key].revision, nil
}

func (k *racingKeys) list(_ context.Context, match string) (states []keyState, err error) {
	if s, ok := k.values[match]; ok {
		states = append(states, s)
	}
	return states, nil
}

func (k *racingKeys) watch(context.Context, string, func(keyState)) error { return nil }

// TestClaimFailsIfTheHolderRenewsMeanwhile: a node that stood still takes a lease for ended; the holder's renewals come in while it
// claims. The claim fails, and the holder's epoch goes on.
func TestClaimFailsIfTheHolderRenewsMeanwhile(t *testing.T) {
	for _, renews := range []bool{true, false} {
		k := &racingKeys{values: make(map[string]keyState)}
		o := Options{Node: "b", Process: "pb", Shards: 2}.withDefaults()
		h := newHostLease(&o, testCluster, k, nil, func(string, error) {})
		ctx := context.Background()
		holder := nodeValue{Cluster: testCluster.String(), Node: "a", Process: "pa", Epoch: 1, Renewal: 7, Shards: []shardGrant{{Shard: 0, Term: 1}}}
		at, err := h.put(ctx, "a", holder, 0)
		if err != nil {
			t.Fatal(err)
		}
		l := &memberLease{h, 0}
		if _, err := l.swap(ctx, leaseValue{Cluster: testCluster.String(), Node: "a", Process: "pa", Term: 1, Epoch: 1, Renewal: 6}, 0); err != nil {
			t.Fatal(err)
		}
		known := h.ledger.lease(0)
		k.during = func() {
			if !renews {
				return
			}
			holder.Renewal++
			if _, err := h.put(ctx, "a", holder, at); err != nil {
				t.Fatal(err)
			}
		}
		_, err = l.claim(ctx, &leaseValue{Cluster: testCluster.String(), Node: "b", Process: "pb", Term: 2}, known.value, known.revision)
		now, _ := decodeNode(k.values[keyOfNode("a")].value)
		if goesOn := now.Process == "pa" && now.Epoch == 1; goesOn != renews || errors.Is(err, errLost) != renews {
			t.Errorf("the holder renews: %t; the claim: %v; its key: %+v", renews, err, now)
		}
	}
}
