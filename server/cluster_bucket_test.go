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
	begun := time.Now()
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
	p.ledOn(a, begun)
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
	begun := time.Now()
	spoil()
	testkit.Until(p.t, "the lease is there again", func() bool {
		entry, err := kv.Get(t.Context(), "shard.0")
		return err == nil && strings.Contains(string(entry.Value()), `"node":"a"`)
	})
	p.ledOn(a, begun)
	p.put("x")
	p.level(a, b)
	p.kill(a)
	spoil()
	testkit.Until(p.t, "b leads", p.leads(b))
	p.eachTickOnce("x", 1)
}

// ledOn checks that a node has led on in its first epoch since something happened to the lease. If the busy machine let that take
// longer than trust in a lease lasts, the node may have lost it: then it only has to lead again.
func (p *troupe) ledOn(s *Server, begun time.Time) {
	p.t.Helper()
	st := p.info(s)
	if took := time.Since(begun); took < 5*time.Second && (st.Role != "leader" || st.Epoch != 1) {
		p.t.Errorf("node %s is %s in epoch %d after %s; want the leader of epoch 1", s.opts.Node, st.Role, st.Epoch, took)
	}
	testkit.Until(p.t, "node "+s.opts.Node+" leads", p.leads(s))
}
