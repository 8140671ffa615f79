package replication

import (
	"testing"
	"time"
)

// TestLeaseIsNotJoinedWithAnOldState: a node that knows an old state of another node's key, with a late revision of a bucket that
// was lost, reads that the other one has taken a shard. The renewals that follow are seen.
func TestLeaseIsNotJoinedWithAnOldState(t *testing.T) {
	l, cluster := newLedger(1), testCluster.String()
	see := func(key string, value []byte, revision uint64) {
		if err := l.see(keyState{key, value, revision}); err != nil {
			t.Fatal(err)
		}
	}
	see(keyOfNode("a"), nodeValue{Cluster: cluster, Node: "a", Process: "p1", Epoch: 1, Renewal: 53}.encode(), 272)
	see(keyOfShard(0), leaseValue{Cluster: cluster, Node: "a", Process: "p2", Term: 6, Epoch: 1, Renewal: 1}.encode(), 150)
	renewed := nodeValue{Cluster: cluster, Node: "a", Process: "p2", Epoch: 1, Renewal: 2, Shards: []shardGrant{{Shard: 0, Term: 6, Heirs: []string{"b"}}}}
	see(keyOfNode("a"), renewed.encode(), 151)
	if lease := l.lease(0); lease.revision != 151 || lease.value.Renewal != 2 || len(lease.value.Heirs) != 1 {
		t.Errorf("%+v, want the renewal at 151", lease)
	}
}

// TestReviewFindsABucketMadeAnew: what was known of a lost bucket, with late revisions, gives way to what the new one has; what
// was seen while the bucket was read stays.
func TestReviewFindsABucketMadeAnew(t *testing.T) {
	cluster := testCluster.String()
	l, p := newLedger(2), newPlaces(cluster, 2)
	lease := func(node string, term uint64) []byte {
		return leaseValue{Cluster: cluster, Node: node, Process: "p" + node, Term: term, Epoch: 1}.encode()
	}
	place := func(change uint64, copies ...string) []byte {
		return placeValue{Cluster: cluster, Shard: 1, Copies: copies, Change: change}.encode()
	}
	for _, s := range []keyState{{keyOfShard(0), lease("a", 6), 700}, {keyOfShard(1), lease("a", 6), 701}} {
		if err := l.see(s); err != nil {
			t.Fatal(err)
		}
	}
	_ = p.see(keyState{keyOfPlace(1), place(6, "a", "b"), 702})
	has := []keyState{{keyOfShard(0), lease("b", 1), 64}, {keyOfShard(1), lease("b", 1), 65}, {keyOfPlace(1), place(2, "c"), 66}}

	leases, places := l.revisions(), p.revisions()
	_ = l.see(keyState{keyOfShard(1), lease("c", 7), 703}) // the bucket is the old one after all, and this came after its states were read
	if !l.review(has, leases, time.Hour) {
		t.Error("it is not said that the bucket was made anew")
	}
	p.review(has, places)
	if got := l.lease(0); got.value.Node != "b" || got.revision != 64 || got.back != time.Hour {
		t.Errorf("%+v, want the lease of b", got)
	}
	if got := l.lease(1); got.value.Node != "c" || got.back != 0 {
		t.Errorf("%+v, want what was seen meanwhile", got)
	}
	if got := p.of(1); got.revision != 66 || got.value.Change != 2 {
		t.Errorf("%+v, want the place at 66", got)
	}
}
