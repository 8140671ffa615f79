package server

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/nats-io/nats.go"

	"github.com/carillon-io/carillon/testkit"
)

// TestShardsHaveOriginsOfTheirOwn: what two shards publish about different changes has different ids, whatever their LSNs and the
// time: the part before the LSN is of one shard alone.
func TestShardsHaveOriginsOfTheirOwn(t *testing.T) {
	t.Parallel()
	p := newTroupe(t)
	o := p.options("a", t.TempDir())
	o.Shards, o.SpreadEvery, o.Events = troupeShards, -1, true
	a := p.startWith(o)
	events := make(chan *nats.Msg, 1000)
	if _, err := p.nc.ChanSubscribe("carillon.events.>", events); err != nil {
		t.Fatal(err)
	}
	must(t, p.nc.Flush())
	p.putInEach()
	shards := make(map[string]uint32) // by the origin
	id := a.first().shard.Node().Status().ClusterID.String()
	for len(shards) < troupeShards {
		m := testkit.Receive(t, events)
		var e struct{ Job string }
		if err := json.Unmarshal(m.Data, &e); err != nil {
			t.Fatalf("%s: %v", m.Data, err)
		}
		origin, _, _ := strings.Cut(m.Header.Get(nats.MsgIdHdr), ".")
		if shard, has := shards[origin]; has && shard != jobShard(e.Job) || !strings.HasPrefix(origin, id+"-") {
			t.Fatalf("the event of shard %d has the origin %s of shard %d", jobShard(e.Job), origin, shard)
		}
		shards[origin] = jobShard(e.Job)
	}
}
