//go:build unix

package server

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/carillon-io/carillon/client"
	"github.com/carillon-io/carillon/testkit"
)

// hungTroupe is a cluster of four processes, each of which leads one of four shards.
type hungTroupe struct {
	*troupe
	nodes map[string]*nodeProcess
	urls  map[string]string // of HTTP
}

// answerTime bounds what is not swallowed. A request to a node that hangs waits for nine seconds or more.
const answerTime = 4 * time.Second

// TestHungNode: one of four nodes stands still, and NATS keeps it. Requests over HTTP to another node are answered as soon as its
// shard has another leader, although NATS counts it among the leaders of that shard. The Go client is answered after one try
// without an answer, also what it must not repeat, although NATS goes on giving the node its share of the requests.
func TestHungNode(t *testing.T) {
	if testing.Short() {
		t.Skip("four processes take seconds")
	}
	t.Parallel()
	p := &hungTroupe{newTroupe(t), make(map[string]*nodeProcess), make(map[string]string)}
	for _, name := range []string{"a", "b", "c", "d"} {
		p.nodes[name], _ = p.startProcessOf(name, t.TempDir(), troupeShards)
		p.urls[name] = p.nodes[name].line("http ")
	}
	p.settle()
	hung, shard, third := p.cast()
	p.nodes[hung].stop()
	over, err := client.Connect(p.urls[third], client.Options{NoRetry: true, Timeout: answerTime})
	if err != nil {
		t.Fatal(err)
	}
	defer over.Close()
	testkit.Until(t, "the shard of the node that hangs has another leader", func() bool {
		st, err := over.Status(t.Context())
		return err == nil && st.Shards[shard].HasLeader && st.Shards[shard].Leader != hung
	})
	if n := p.swallowed(); n == 0 {
		t.Error("the node that hangs has swallowed nothing")
	}
	if n := p.trigger(40, over); n > 0 {
		t.Errorf("%d of 40 requests over HTTP got no answer", n)
	}
	c := p.client(false)
	for shard := range uint32(troupeShards) { // they may meet the node that hangs, and learn of it
		for range 5 {
			if _, err := c.Get(t.Context(), nameIn(shard)); err != nil {
				t.Error(err)
			}
		}
	}
	if n := p.trigger(40, c); n > 0 {
		t.Errorf("%d of 40 requests of the client got no answer", n)
	}
	p.nodes[hung].start()
}

// settle waits until each node leads a shard, and each shard has a follower that could take it over, and puts a job in each.
func (p *hungTroupe) settle() {
	p.t.Helper()
	testkit.Until(p.t, "each node leads a shard", func() bool { return p.isSettled() })
	for shard := range uint32(troupeShards) {
		testkit.Until(p.t, "the job is put", func() bool {
			_, _, err := p.client(false).Put(p.t.Context(), client.Job{Name: nameIn(shard), Schedule: "@every 1h", Target: client.Target{Kind: "nats", Subject: "out"}})
			return err == nil
		})
	}
}

func (p *hungTroupe) isSettled() bool {
	st, err := p.client(false).Status(p.t.Context())
	leaders := make(map[string]bool)
	for _, s := range st.Shards {
		leaders[s.Leader] = s.HasLeader
		isMoving := slices.ContainsFunc(s.Replicas, func(r client.ShardReplica) bool { return r.Move != "" })
		if isMoving || !slices.ContainsFunc(s.Replicas, func(r client.ShardReplica) bool { return r.Role == "standby" }) {
			return false
		}
	}
	return err == nil && len(leaders) == len(p.nodes)
}

// cast returns a node that leads another shard than the first, that shard, and a node without a copy of it.
func (p *hungTroupe) cast() (hung string, shard uint32, third string) {
	p.t.Helper()
	st, err := p.client(false).Status(p.t.Context())
	if err != nil {
		p.t.Fatal(err)
	}
	for _, s := range st.Shards[1:] {
		for name := range p.nodes {
			if !slices.ContainsFunc(s.Replicas, func(r client.ShardReplica) bool { return r.Node == name }) {
				return s.Leader, s.Shard, name
			}
		}
	}
	p.t.Fatalf("each node has a copy of each shard: %+v", st.Shards)
	return "", 0, ""
}

// swallowed sends requests over NATS at the same time, and returns how many get no answer.
func (p *hungTroupe) swallowed() int {
	var all sync.WaitGroup
	var none atomic.Int32
	for range 60 {
		all.Go(func() {
			if _, err := p.nc.Request("carillon.v1.default.whoami", nil, time.Second); err != nil {
				none.Add(1)
			}
		})
	}
	all.Wait()
	return int(none.Load())
}

// trigger triggers jobs of all shards with a client, which must not repeat that, and returns how many get no answer.
func (p *hungTroupe) trigger(n int, c *client.Client) (none int) {
	for i := range n {
		ctx, cancel := context.WithTimeout(p.t.Context(), answerTime)
		if _, err := c.Trigger(ctx, client.TriggerRequest{Name: nameIn(uint32(i % troupeShards))}); err != nil {
			p.t.Log(fmt.Errorf("shard %d: %w", i%troupeShards, err))
			none++
		}
		cancel()
	}
	return none
}
