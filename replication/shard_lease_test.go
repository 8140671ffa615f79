package replication

import (
	"context"
	"errors"
	"slices"
	"testing"
	"time"
)

// TestClaimReadsTheLease: a node claims the lease that it knows, and no other one of the same revision, as a bucket that was lost
// and made anew can have. A server that lags behind the known revision does not decide that.
func TestClaimReadsTheLease(t *testing.T) {
	known := leaseValue{Cluster: testCluster.String(), Node: "a", Process: "pa", Term: 4, Renewal: 7}
	other := leaseValue{Cluster: testCluster.String(), Node: "c", Process: "pc", Term: 5}
	failed := errors.New("no answer")
	type state struct {
		value    leaseValue
		revision uint64
		err      error
	}
	for name, c := range map[string]struct {
		look, sure state
		want       error
	}{
		"as known":                              {look: state{known, 9, nil}},
		"renewed":                               {look: state{known, 10, nil}, want: errLost},
		"another one of the same revision":      {look: state{other, 9, nil}, want: errLost},
		"a server that lags":                    {look: state{other, 8, nil}, sure: state{known, 9, nil}},
		"a bucket made anew, of an early state": {look: state{other, 8, nil}, sure: state{other, 8, nil}, want: errLost},
		"gone":                                  {look: state{}, sure: state{}, want: errLost},
		"damaged, as known":                     {look: state{leaseValue{}, 9, errDamagedLease}},
		"damaged meanwhile":                     {look: state{leaseValue{}, 10, errDamagedLease}, want: errLost},
		"no answer":                             {look: state{err: failed}, want: failed},
	} {
		of := func(s state) lookAtLease {
			return func(context.Context) (leaseValue, uint64, error) { return s.value, s.revision, s.err }
		}
		if err := confirmed(t.Context(), known, 9, of(c.look), of(c.sure)); !errors.Is(err, c.want) {
			t.Errorf("%s: %v, want %v", name, err, c.want)
		}
	}
}

// TestClaimInABucketMadeAnew: a node that stood still while the bucket was lost and made anew knows an old lease of just the
// revision that the new one has.
func TestClaimInABucketMadeAnew(t *testing.T) {
	known := leaseValue{Cluster: testCluster.String(), Node: "a", Process: "pa", Term: 1}
	for _, isAnew := range []bool{false, true} {
		k, stored := &racingKeys{values: make(map[string]keyState)}, known
		if isAnew {
			stored = leaseValue{Cluster: testCluster.String(), Node: "b", Process: "pb", Term: 2}
		}
		l := &shardLease{k, keyOfShard(0)}
		at, err := l.swap(t.Context(), stored, 0)
		if err != nil {
			t.Fatal(err)
		}
		_, err = l.claim(t.Context(), &leaseValue{Cluster: known.Cluster, Node: "c", Process: "pc", Term: 2}, known, at)
		if errors.Is(err, errLost) != isAnew {
			t.Errorf("the bucket is another one: %t; the claim: %v", isAnew, err)
		}
	}
}

// TestReleaseReadsTheLease: a node gives up its own lease, also after a renewal whose reply was lost, or where the bucket has lost it;
// and no other one that a bucket which was made anew has at the revision that the node remembers. It names the heirs of its successor.
func TestReleaseReadsTheLease(t *testing.T) {
	own := leaseValue{Cluster: testCluster.String(), Node: "a", Process: "pa", Term: 2}
	renewed, other, earlier := own, own, own
	renewed.Renewal++
	other.Node, other.Process = "b", "pb"
	earlier.Node, earlier.Process, earlier.Term = "b", "pb", 1
	for name, c := range map[string]struct {
		stored []leaseValue // one after the other
		sure   bool         // it may launch until then
		want   leaseValue
	}{
		"as remembered":                                              {stored: []leaseValue{own}, want: leaseValue{Node: "a", Released: true, To: "c"}},
		"renewed, and the reply was lost":                            {stored: []leaseValue{own, renewed}, want: leaseValue{Node: "a", Released: true, To: "c"}},
		"in a bucket that was made anew":                             {sure: true, want: leaseValue{Node: "a", Released: true, To: "c"}},
		"in a bucket that has gone back":                             {sure: true, stored: []leaseValue{earlier}, want: leaseValue{Node: "a", Released: true, To: "c"}},
		"in a bucket made anew, of a node that never saw this lease": {stored: []leaseValue{earlier}, want: leaseValue{Node: "b"}},
		"another node's of the same revision":                        {stored: []leaseValue{other}, want: leaseValue{Node: "b"}},
		"another node's, which has taken it meanwhile":               {stored: []leaseValue{own, other}, want: leaseValue{Node: "b"}},
	} {
		k := &racingKeys{values: make(map[string]keyState)}
		l := &shardLease{k, keyOfShard(0)}
		var at uint64
		for _, v := range c.stored {
			at = must(t)(l.swap(t.Context(), v, at))
		}
		n := &Node{opts: Options{Node: "a", Process: "pa"}.withDefaults(), register: l, local: &successorLocal{memLog: logOf()}}
		n.leadership.value, n.leadership.revision = own, 1
		n.leadership.tenure = tenure{lease: time.Minute}.taken(n.opts.Boot(), []string{"b/pb", "c/pc"})
		if c.sure {
			n.trusted.Store(int64(n.opts.Boot() + time.Minute))
		}
		if err := n.release(t.Context(), "c"); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		got, _ := decodeLease(k.values[keyOfShard(0)].value)
		if got.Node != c.want.Node || got.Released != c.want.Released || got.To != c.want.To {
			t.Errorf("%s: the lease is %+v, want that of %+v", name, got, c.want)
		}
		if heirs := []string{"a/pa", "b/pb"}; got.Released && !slices.Equal(got.Heirs, heirs) {
			t.Errorf("%s: heirs %v, want %v", name, got.Heirs, heirs)
		}
	}
}
