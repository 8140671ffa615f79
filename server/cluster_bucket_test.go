package server

import (
	"strings"
	"testing"
	"time"

	"github.com/nats-io/nats.go"

	"github.com/carillon-io/carillon/testkit"
)

// TestLeaseBucketIsDeleted: an operator deletes the bucket of the lease under a running cluster. The nodes make it anew,
// the leader leads on, and the standby takes over when the leader dies.
func TestLeaseBucketIsDeleted(t *testing.T) {
	t.Parallel()
	p := newTroupe(t)
	a, b := p.start("a", t.TempDir()), p.start("b", t.TempDir())
	p.put("x")
	p.level(a, b)
	const bucket = "CARILLON_LEASE_carillon"
	stalls := measureStalls()
	if err := p.js.DeleteKeyValue(t.Context(), bucket); err != nil {
		t.Fatal(err)
	}
	testkit.Until(p.t, "the lease is there again", func() bool {
		kv, err := p.js.KeyValue(t.Context(), bucket)
		if err != nil {
			return false
		}
		_, err = kv.Get(t.Context(), "shard.0")
		return err == nil
	})
	p.ledOn(a, stalls)
	received := make(chan *nats.Msg, 10000)
	if _, err := p.nc.ChanSubscribe("out.x", received); err != nil {
		t.Fatal(err)
	}
	testkit.Receive(t, received)
	p.level(a, b)
	p.kill(a)
	testkit.Until(p.t, "b leads", p.leads(b))
	p.eachTickOnce("x", 2)
}

// TestLeaseIsOverwritten: a foreign program overwrites the lease. The leader replaces that and goes on leading;
// when it dies, the standby takes the lease although the key holds something else.
func TestLeaseIsOverwritten(t *testing.T) {
	t.Parallel()
	p := newTroupe(t)
	a, b := p.start("a", t.TempDir()), p.start("b", t.TempDir())
	p.level(a, b)
	kv, err := p.js.KeyValue(t.Context(), "CARILLON_LEASE_carillon")
	if err != nil {
		t.Fatal(err)
	}
	spoil := func() {
		if _, err := kv.Put(t.Context(), "shard.0", []byte("garbage")); err != nil {
			t.Fatal(err)
		}
	}
	stalls := measureStalls()
	spoil()
	testkit.Until(p.t, "the lease is there again", func() bool {
		entry, err := kv.Get(t.Context(), "shard.0")
		return err == nil && strings.Contains(string(entry.Value()), `"node":"a"`)
	})
	p.ledOn(a, stalls)
	p.put("x")
	p.level(a, b)
	p.kill(a)
	spoil()
	testkit.Until(p.t, "b leads", p.leads(b))
	p.eachTickOnce("x", 1)
}

// ledOn checks that a node has led on in its first epoch since something happened to the lease, while stalls measured how long the
// machine stood still. If that was long, trust in the lease may have ended: then the node only has to lead again.
func (p *troupe) ledOn(s *Server, stalls func() time.Duration) {
	p.t.Helper()
	st := p.info(s)
	if longest := stalls(); longest < stallsMost && (st.Role != "leader" || st.Epoch != 1) {
		p.t.Errorf("node %s is %s in epoch %d, though the machine never stood still for more than %s; want the leader of epoch 1", s.opts.Node, st.Role, st.Epoch, longest)
	}
	testkit.Until(p.t, "node "+s.opts.Node+" leads", p.leads(s))
}

// stallsMost is how long a machine may stand still before a leader may lose the trust in its lease, which promises and renewals
// prolong for half a second.
const stallsMost = 50 * time.Millisecond

// measureStalls begins to measure for how long the machine keeps a goroutine from running. The result ends that, and returns the
// longest time.
func measureStalls() (longest func() time.Duration) {
	stop, ended := make(chan struct{}), make(chan time.Duration, 1)
	go func() {
		most, tick := time.Duration(0), time.NewTicker(5*time.Millisecond)
		defer tick.Stop()
		for last := time.Now(); ; {
			select {
			case <-stop:
				ended <- most
				return
			case <-tick.C:
				most, last = max(most, time.Since(last)), time.Now()
			}
		}
	}()
	return func() time.Duration {
		close(stop)
		return <-ended
	}
}
