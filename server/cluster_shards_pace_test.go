package server

import (
	"fmt"
	"testing"

	"github.com/carillon-io/carillon/client"
	"github.com/carillon-io/carillon/testkit"
)

// TestShardsShareTheRateByUse: two nodes lead shards, one of which fires far more than the others. Its part of the rate of catching
// up grows, and that of a shard which another node leads shrinks.
func TestShardsShareTheRateByUse(t *testing.T) {
	t.Parallel()
	p := newTroupe(t)
	a, b := p.startShards("a", t.TempDir()), p.startShards("b", t.TempDir())
	p.levelInEach(a, b)
	p.handOver(1, "b")
	c := p.client(false)
	put := func(name, schedule string) {
		if _, _, err := c.Put(t.Context(), client.Job{Name: name, Schedule: schedule, Target: client.Target{Kind: "nats", Subject: "out"}}); err != nil {
			t.Fatal(err)
		}
	}
	put(nameIn(0), "@every 1s") // a step a second
	for i, busy := 0, 0; busy < 40; i++ {
		if name := fmt.Sprint("busy-", i); jobShard(name) == 1 {
			put(name, "@every 100ms")
			busy++
		}
	}
	testkit.Until(t, "the busy shard has more than a fourth of the rate, and an idle one less", func() bool {
		idle, much := a.memberOf(0).shard.Status().CatchUp.Rate, b.memberOf(1).shard.Status().CatchUp.Rate
		return idle < 249 && much > 253
	})
}
