package server

import (
	"slices"
	"testing"
	"time"

	"github.com/nats-io/nats.go"

	"github.com/carillon-io/carillon/testkit"
)

// TestShardsOnThreeServers: three nodes whose embedded servers form the NATS cluster found four shards together, and agree: each
// shard has one leader. When the node dies that leads most of them, with its NATS server, the others lead its shards, and each
// job fires on.
func TestShardsOnThreeServers(t *testing.T) {
	t.Parallel()
	nodes := nodeOptions(t, 3)
	for i := range nodes {
		nodes[i].Shards, nodes[i].Logger = troupeShards, testLog()
	}
	servers := startAll(t.Context(), t, nodes...)
	leaders := func(among []*Server) (shards []uint32) {
		for _, s := range among {
			shards = append(shards, s.leads()...)
		}
		slices.Sort(shards)
		return shards
	}
	all := []uint32{0, 1, 2, 3}
	testkit.Until(t, "each shard has one leader", func() bool { return slices.Equal(leaders(servers), all) })
	victim := slices.MaxFunc(servers, func(a, b *Server) int { return len(a.leads()) - len(b.leads()) })
	rest := slices.DeleteFunc(slices.Clone(servers), func(s *Server) bool { return s == victim })

	p := &troupe{t: t}
	var err error
	if p.nc, err = nats.Connect(rest[0].Ready().NATS); err != nil {
		t.Fatal(err)
	}
	defer p.nc.Close()
	received := make(chan *nats.Msg, 10_000)
	if _, err := p.nc.ChanSubscribe("out.>", received); err != nil {
		t.Fatal(err)
	}
	if err := p.nc.Flush(); err != nil {
		t.Fatal(err)
	}
	p.putInEach()
	p.eachShardFires(received)
	p.kill(victim)
	if err := victim.Close(t.Context()); err != nil {
		t.Fatal(err)
	}
	began := time.Now()
	testkit.Until(t, "each shard has one leader again", func() bool { return slices.Equal(leaders(rest), all) })
	t.Logf("led again after %s", time.Since(began))
	for len(received) > 0 {
		<-received
	}
	p.eachShardFires(received)
	testkit.Until(t, "every missed tick is decided", func() bool { return rest[0].status().CatchUp.Jobs+rest[1].status().CatchUp.Jobs == 0 })
	p.eachShardTicksOnce()
}
