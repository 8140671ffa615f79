package replication

import (
	"slices"
	"testing"
)

// TestHeirsOfAClaim: the heirs that a claim names are those of the lease until the key of the holder's node renews it, also where that
// key is renewed meanwhile for other shards; and when the node is ended before that, unless a renewal was missed that may have named
// others. A release before this one names none, and what it gives up keeps the heirs that it has named.
func TestHeirsOfAClaim(t *testing.T) {
	const claimed, given = 4, 5 // renewal of the node's key at the claim; term of the claim
	for name, c := range map[string]struct {
		claim []string
		nodes []nodeValue // states of the holder's node after it
		want  []string
	}{
		"just taken":                      {claim: []string{"b", "c"}, want: []string{"b", "c"}},
		"by a release that names none":    {want: []string{}},
		"while other shards are renewed":  {claim: []string{"b"}, nodes: []nodeValue{{Process: "p", Renewal: claimed + 1}}, want: []string{"b"}},
		"renewed":                         {claim: []string{"b"}, nodes: []nodeValue{{Process: "p", Renewal: claimed + 1, Shards: []shardGrant{{Term: given, Heirs: []string{"c"}}}}}, want: []string{"c"}},
		"ended":                           {claim: []string{"b"}, nodes: []nodeValue{{Ended: "p", Epoch: 1, Renewal: claimed + 1}}, want: []string{"b"}},
		"ended after a renewal of others": {claim: []string{"b"}, nodes: []nodeValue{{Process: "p", Renewal: claimed + 1}, {Ended: "p", Epoch: 1, Renewal: claimed + 2}}, want: []string{"b"}},
		"ended after one that was missed": {claim: []string{"b"}, nodes: []nodeValue{{Ended: "p", Epoch: 1, Renewal: claimed + 2}}, want: []string{}},
	} {
		l, cluster := newLedger(1), testCluster.String()
		taken := leaseValue{Cluster: cluster, Node: "a", Process: "p", Term: given, Renewal: claimed, Heirs: c.claim}
		seen := []keyState{{keyOfNode("a"), nodeValue{Cluster: cluster, Node: "a", Process: "p", Renewal: claimed}.encode(), 8}, {keyOfShard(0), taken.encode(), 9}}
		for i, v := range c.nodes {
			v.Cluster, v.Node = cluster, "a"
			seen = append(seen, keyState{keyOfNode("a"), v.encode(), uint64(10 + i)})
		}
		for _, s := range seen {
			if err := l.see(s); err != nil {
				t.Fatal(err)
			}
		}
		if got := l.lease(0).value.Heirs; got == nil || !slices.Equal(got, c.want) {
			t.Errorf("%s: heirs %v, want %v", name, got, c.want)
		}
	}
}

// TestHeirsOfAReleasedLease: what the holder's node renews after it has given a shard up changes nothing about the heirs that the next
// holder is to name.
func TestHeirsOfAReleasedLease(t *testing.T) {
	l, cluster := newLedger(1), testCluster.String()
	node := nodeValue{Cluster: cluster, Node: "a", Process: "p", Renewal: 4, Shards: []shardGrant{{Term: 5, Heirs: []string{"b"}}}}
	released := leaseValue{Cluster: cluster, Node: "a", Process: "p", Term: 5, Renewal: 4, Released: true, To: "b", Heirs: []string{"a", "c"}}
	for i, s := range []keyState{{keyOfNode("a"), node.encode(), 8}, {keyOfShard(0), released.encode(), 9}, {keyOfNode("a"), node.encode(), 10}} {
		if i == 2 {
			node.Renewal++
			s.value = node.encode()
		}
		if err := l.see(s); err != nil {
			t.Fatal(err)
		}
	}
	if got := l.lease(0); !got.value.Released || !slices.Equal(got.value.Heirs, []string{"a", "c"}) {
		t.Errorf("%+v, want the lease as it was given up", got)
	}
}
