package server

import (
	"testing"
	"time"

	"github.com/carillon-io/carillon/testkit"
)

// TestShardsAreSpread: a node that joins gets its share of the leaderships by itself, no tick is lost or decided twice on the
// way, and when it has ended the other node leads all again.
func TestShardsAreSpread(t *testing.T) {
	t.Parallel()
	p := newTroupe(t)
	start := func(name string) *Server {
		o := p.options(name, t.TempDir())
		o.Shards, o.SpreadEvery, o.Copies = troupeShards, 200*time.Millisecond, 3
		return p.startWith(o)
	}
	a := start("a")
	p.putInEach()
	if len(a.leads()) != troupeShards {
		t.Fatalf("the only node leads %v", a.leads())
	}
	b := start("b")
	testkit.Until(t, "each node leads half", func() bool {
		return len(a.leads()) == troupeShards/2 && len(b.leads()) == troupeShards/2
	})
	for shard := range uint32(troupeShards) {
		if _, err := p.client(false).Get(t.Context(), nameIn(shard)); err != nil {
			t.Errorf("shard %d: %v", shard, err)
		}
	}
	p.eachShardTicksOnce()
	if err := b.Close(t.Context()); err != nil {
		t.Fatal(err)
	}
	testkit.Until(t, "a leads all shards", func() bool { return len(a.leads()) == troupeShards })
	p.eachShardTicksOnce()
}
