package replication

import (
	"context"
	"errors"
	"sync"
	"testing"
	"testing/synctest"
	"time"
)

// newRenewer returns the lease of a process "pa" of node "a" on a bucket of its own, and the options with its clock.
func newRenewer(now *time.Duration) (*hostLease, Options) {
	o := Options{Node: "a", Process: "pa", Shards: 2, Boot: func() time.Duration { return *now }, Logger: quiet}.withDefaults()
	k := &racingKeys{values: make(map[string]keyState)}
	return newHostLease(&o, testCluster, k, newPlaces(testCluster.String(), 2), func(string, error) {}), o
}

// newHolder returns what newRenewer does, once the process holds the key of its node, and its epoch.
func newHolder(t *testing.T, now *time.Duration) (h *hostLease, o Options, epoch uint64) {
	t.Helper()
	h, o = newRenewer(now)
	epoch, err := h.hold(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return h, o, epoch
}

// newLed returns a member that begins to lead by a lease, which h renews.
func newLed(h *hostLease, o Options, v leaseValue) *Node {
	n := &Node{opts: o, lease: make(chan leaseSeen, 1)}
	n.leadership.ctx, n.leadership.end = context.WithCancel(context.Background())
	n.begin(v, 9, o.Boot())
	h.led = []*Node{n}
	return n
}

// TestLeasesOfAnEndedEpochAreNotRenewed: another node ends the epoch of a process, and the process begins another one to take a
// lease. What it led by the old one it leads no more, because nobody takes its renewals for those of that lease.
func TestLeasesOfAnEndedEpochAreNotRenewed(t *testing.T) {
	for _, isEnded := range []bool{false, true} {
		now, ctx := time.Hour, context.Background()
		h, o, epoch := newHolder(t, &now)
		v := leaseValue{Node: "a", Process: "pa", Term: 1, Epoch: epoch}
		n := newLed(h, o, v)
		if isEnded {
			if err := h.end(ctx, &v, h.ledger.node("a")); err != nil {
				t.Fatal(err)
			}
		}
		if again, err := h.hold(ctx); err != nil || (again != epoch) != isEnded {
			t.Fatalf("epoch %d after %d: %v", again, epoch, err)
		}
		now += 2 * time.Second
		if err := h.renewDue(ctx); err != nil {
			t.Fatal(err)
		}
		if leads := n.leadership.ctx.Err() == nil && n.Trust() > 0; leads == isEnded {
			t.Errorf("the epoch was ended: %t; the process leads: %t", isEnded, leads)
		}
		n.leadership.end()
	}
}

// TestEpochEndedDuringAStandstill: another node ends the epoch of a process that stands still, and the watch of the process has
// not shown it that when it wakes. What it takes then, it takes in a new epoch.
func TestEpochEndedDuringAStandstill(t *testing.T) {
	for _, isEnded := range []bool{false, true} {
		now, ctx := time.Hour, context.Background()
		h, o, epoch := newHolder(t, &now)
		if isEnded {
			v := nodeValue{Cluster: testCluster.String(), Node: "a", Epoch: epoch + 1, Ended: "pa"}
			if _, err := h.keys.put(ctx, keyOfNode("a"), v.encode(), h.revision); err != nil {
				t.Fatal(err)
			}
		}
		now += o.Grace
		switch again, err := h.hold(ctx); {
		case err != nil:
			t.Fatal(err)
		case isEnded && again <= epoch+1, !isEnded && again != epoch:
			t.Errorf("epoch %d ended: %t; then it is %d", epoch, isEnded, again)
		}
	}
}

// TestEarlierOwnEpochIsStale: a read that shows an earlier epoch of the same process, as from before a loss of the bucket, ends
// no leadership while the lease lasts, whatever its revision.
func TestEarlierOwnEpochIsStale(t *testing.T) {
	now := time.Hour
	h, _ := newRenewer(&now)
	h.value, h.revision = nodeValue{Node: "a", Process: "pa", Epoch: 3, Renewal: 60}, 3
	earlier := nodeValue{Node: "a", Process: "pa", Epoch: 1, Renewal: 58}
	if err := h.judge(earlier, 115, true, true); !errors.Is(err, errStale) {
		t.Errorf("%v, want %v", err, errStale)
	}
	if err := h.judge(earlier, 115, false, false); !errors.Is(err, ErrDeposed) {
		t.Errorf("%v after the lease, want %v", err, ErrDeposed)
	}
}

// TestLeaseTakenInANewBucketIsLost: the bucket is made anew, and another node takes a shard in it while its leader stands still.
// Nobody can have ended the epoch of the leader there, so the leader loses the shard when it cannot write its key again; unless
// the key there is its own, written by a try whose reply was lost.
func TestLeaseTakenInANewBucketIsLost(t *testing.T) {
	for name, c := range map[string]struct {
		by    string // process that has the key of the shard in the new bucket; "": none
		leads bool
	}{"nobody": {"", true}, "another node": {"pb", false}, "an earlier try": {"pa", true}} {
		t.Run(name, func(t *testing.T) {
			now, ctx := time.Hour, context.Background()
			h, o, epoch := newHolder(t, &now)
			v := leaseValue{Cluster: testCluster.String(), Node: "a", Process: "pa", Term: 1, Epoch: epoch}
			n := newLed(h, o, v)
			defer n.leadership.end()
			h.unsure = true
			clear(h.keys.(*racingKeys).values)
			if v.Process = c.by; c.by != "" {
				v.Epoch += 2 // what the leader begins in a new bucket
				if _, err := h.keys.put(ctx, keyOfShard(0), v.encode(), 0); err != nil {
					t.Fatal(err)
				}
			}
			now += 2 * time.Second
			if err := h.renewDue(ctx); err != nil {
				t.Fatal(err)
			}
			if leads := n.leadership.ctx.Err() == nil && n.Trust() > 0; leads != c.leads {
				t.Errorf("it leads: %t, want %t", leads, c.leads)
			}
		})
	}
}

// silentKeys are keys of a bucket that does not answer.
type silentKeys struct {
	keys
	reads int
}

func (k *silentKeys) get(context.Context, string) ([]byte, uint64, error) {
	k.reads++
	time.Sleep(callTimeout)
	return nil, 0, context.DeadlineExceeded
}

// queueLock is a lock that a bubble of virtual time can wait for.
type queueLock chan struct{}

func (l queueLock) Lock()   { l <- struct{}{} }
func (l queueLock) Unlock() { <-l }

// TestMembersWaitForOneTimeout: several members want to take shards while the bucket does not answer. They all learn it from one
// request, and go back to their loops.
func TestMembersWaitForOneTimeout(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		began := time.Now()
		now := time.Duration(0)
		h, _ := newRenewer(&now)
		silent := &silentKeys{}
		h.opts.Boot = func() time.Duration { return time.Hour + time.Since(began) }
		h.keys, h.renewing = silent, make(queueLock, 1)
		var members sync.WaitGroup
		for range 64 {
			members.Go(func() {
				if _, err := h.hold(t.Context()); !errors.Is(err, context.DeadlineExceeded) {
					t.Errorf("error %v", err)
				}
			})
		}
		members.Wait()
		if took := time.Since(began); silent.reads != 1 || took != callTimeout {
			t.Errorf("%d requests, %s", silent.reads, took)
		}
	})
}
