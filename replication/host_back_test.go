package replication

import (
	"context"
	"errors"
	"testing"
	"time"
)

// TestBucketGoesBack: NATS comes back as it was before. The process that leads a shard writes the keys again that were lost, without
// a moment in which it may not launch; but what another node has taken since, it has lost.
func TestBucketGoesBack(t *testing.T) {
	for name, c := range map[string]struct {
		goBack func(k *racingKeys, shard, node keyState) // to what these keys were
		leads  bool
	}{
		"behind the last renewals": {func(k *racingKeys, shard, node keyState) {
			k.values[keyOfNode("a")] = node
		}, true},
		"behind the claim, and so the renewals": {func(k *racingKeys, shard, node keyState) {
			k.values[keyOfNode("a")], k.values[keyOfShard(0)], k.revision = node, shard, shard.revision
		}, true},
		"behind the beginning of the process": {func(k *racingKeys, shard, node keyState) {
			v := nodeValue{Cluster: testCluster.String(), Node: "a", Process: "p0", Epoch: 3, Renewal: 9}
			k.values[keyOfNode("a")], k.values[keyOfShard(0)] = keyState{keyOfNode("a"), v.encode(), 1}, shard
		}, true},
		"behind the beginning of the node": {func(k *racingKeys, shard, node keyState) {
			delete(k.values, keyOfNode("a"))
			k.values[keyOfShard(0)], k.revision = shard, shard.revision
		}, true},
		"behind the claim, and another node has taken the shard": {func(k *racingKeys, shard, node keyState) {
			k.values[keyOfNode("a")] = node
			k.revision = shard.revision
			v := leaseValue{Cluster: testCluster.String(), Node: "c", Process: "pc", Term: 2}
			_, _ = k.put(context.Background(), keyOfShard(0), v.encode(), k.values[keyOfShard(0)].revision)
		}, false},
	} {
		t.Run(name, func(t *testing.T) {
			now := time.Hour
			h, n, shard, node := newTaken(t, &now)
			defer n.leadership.end()
			k := h.keys.(*racingKeys)
			renewed(t, h, &now)
			c.goBack(k, shard, node)
			for range 3 { // the first one finds that out
				renewed(t, h, &now)
			}
			found, _ := decodeLease(k.values[keyOfShard(0)].value)
			if leads := n.leadership.ctx.Err() == nil && n.Trust() > 0; leads != c.leads || (found.Process == "pa") != c.leads {
				t.Errorf("it leads: %t, want %t; the key of the shard: %+v", leads, c.leads, found)
			}
		})
	}
}

// newTaken returns the lease of a process that has just taken a shard from another node, with the member, and what the keys of the
// shard and of the node were before.
func newTaken(t *testing.T, now *time.Duration) (h *hostLease, n *Node, shard, node keyState) {
	t.Helper()
	h, o, epoch := newHolder(t, now)
	k, l := h.keys.(*racingKeys), &memberLease{h, 0}
	node = k.values[keyOfNode("a")]
	before := leaseValue{Cluster: testCluster.String(), Node: "b", Process: "pb", Term: 1, Epoch: 1}
	revision := must(t)(l.swap(t.Context(), before, 0))
	shard = k.values[keyOfShard(0)]
	v := leaseValue{Cluster: testCluster.String(), Node: "a", Process: "pa", Term: 2, Epoch: epoch}
	n = newLed(h, o, v)
	n.leadership.revision = must(t)(l.swap(t.Context(), v, revision))
	return h, n, shard, node
}

// TestClaimIsLost: the bucket goes back by one write, that of a claim. The next renewal has the revision of the claim, so the process
// knows, and takes the shard again before it launches any further by that renewal.
func TestClaimIsLost(t *testing.T) {
	now := time.Hour
	h, n, shard, _ := newTaken(t, &now)
	defer n.leadership.end()
	k := h.keys.(*racingKeys)
	k.values[keyOfShard(0)], k.revision = shard, shard.revision
	renewed(t, h, &now)
	found, _ := decodeLease(k.values[keyOfShard(0)].value)
	if found.Process != "pa" || n.Trust() <= 0 {
		t.Errorf("it trusts its lease for %s, and the key of the shard is %+v", n.Trust(), found)
	}
	at := k.values[keyOfShard(0)].revision
	if renewed(t, h, &now); k.values[keyOfShard(0)].revision != at {
		t.Error("the key of the shard is written with each renewal")
	}
}

// TestLateClaimInANewBucket: a claim was under way when the bucket was lost, by one of the revisions that the key of the shard had
// there. It comes when the leader has written its lease into a new bucket, whose revisions begin again, and takes nothing.
func TestLateClaimInANewBucket(t *testing.T) {
	for late := uint64(1); late <= 3; late++ { // the key had the revisions 2 and 3
		now := time.Hour
		h, n, _, _ := newTaken(t, &now)
		k := h.keys.(*racingKeys)
		clear(k.values)
		k.revision = 0
		for range 3 {
			renewed(t, h, &now)
		}
		claim := leaseValue{Cluster: testCluster.String(), Node: "b", Process: "pb", Term: 2, Epoch: 1}
		if _, err := k.put(t.Context(), keyOfShard(0), claim.encode(), late); !errors.Is(err, errLost) || n.Trust() <= 0 {
			t.Errorf("a claim by revision %d: %v; the leader trusts for %s", late, err, n.Trust())
		}
		n.leadership.end()
	}
}

// renewed renews the leases of a process when they are due.
func renewed(t *testing.T, h *hostLease, now *time.Duration) {
	t.Helper()
	*now += 2 * time.Second
	if err := h.renewDue(context.Background()); err != nil {
		t.Fatal(err)
	}
}

// must returns a function that ends the test after an error, and else returns the revision.
func must(t *testing.T) func(uint64, error) uint64 {
	return func(revision uint64, err error) uint64 {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		return revision
	}
}
