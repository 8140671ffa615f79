package server

import (
	"fmt"
	"testing"

	"github.com/carillon-io/carillon/job"
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
	put := func(shard uint32, name, schedule string) {
		p.askShard(shard, "jobs.put", `{"name":"`+name+`","schedule":"`+schedule+`","target":{"kind":"nats","subject":"out"}}`, &struct{}{})
	}
	put(0, nameIn(0), "@every 1s") // a step a second
	for i, busy := 0, 0; busy < 40; i++ {
		if name := fmt.Sprint("busy-", i); job.ShardOf(job.SlotOf("default", name), troupeShards) == 1 {
			put(1, name, "@every 100ms")
			busy++
		}
	}
	testkit.Until(t, "the busy shard has more than a fourth of the rate, and an idle one less", func() bool {
		idle, much := a.memberOf(0).shard.Status().CatchUp.Rate, b.memberOf(1).shard.Status().CatchUp.Rate
		return idle < 249 && much > 253
	})
}
