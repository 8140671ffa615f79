package server

import (
	"context"
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/nats-io/nats.go/jetstream"

	"github.com/carillon-io/carillon/client"
	"github.com/carillon-io/carillon/datadir"
	"github.com/carillon-io/carillon/testkit"
)

// placeShards is the number of shards of the clusters in these tests.
const placeShards = 8

// placed starts a node of a cluster of several shards that keeps two copies of each and looks after them often.
func (p *troupe) placed(name, dir string, change func(*Options)) *Server {
	p.t.Helper()
	o := p.options(name, dir)
	o.Shards, o.SpreadEvery, o.placeEvery = placeShards, 100*time.Millisecond, 50*time.Millisecond
	if change != nil {
		change(&o)
	}
	return p.startWith(o)
}

// identities returns of each job its id and its version, by the name.
func (p *troupe) identities() map[string]string {
	p.t.Helper()
	ids := make(map[string]string)
	for page := (client.ListRequest{Limit: 1000}); ; {
		list, err := p.client(false).List(p.t.Context(), page)
		if err != nil {
			p.t.Fatal(err)
		}
		for _, j := range list.Jobs {
			ids[j.Name] = fmt.Sprint(j.ID, j.Version)
		}
		if page.Cursor = list.NextCursor; page.Cursor == "" {
			return ids
		}
	}
}

// settled waits until each shard but the first has two copies, each is led, and no copy moves; and until each node leads and
// holds about its share.
func settled(t *testing.T, servers ...*Server) {
	t.Helper()
	defer func() {
		for _, s := range servers {
			if t.Failed() {
				t.Logf("node %s leads %v and holds %v", s.opts.Node, s.leads(), s.held())
			}
		}
		for n := range uint32(placeShards) {
			if t.Failed() {
				t.Logf("shard %d: %+v", n, servers[0].cluster.Replication.Host.PlaceOf(n))
			}
		}
	}()
	testkit.Until(t, "each shard has two copies, and each node its share", func() bool {
		copies := make(map[uint32]int)
		led := 0
		for _, s := range servers {
			held := s.held()
			for _, n := range held {
				copies[n]++
			}
			if share := 2 * (placeShards - 1) / len(servers); len(held) < share || len(held) > share+1 {
				return false
			}
			if leads := len(s.leads()); leads < placeShards/len(servers) || leads > placeShards/len(servers)+1 {
				return false
			}
			led += len(s.leads())
		}
		for n := range uint32(placeShards) {
			if v := servers[0].cluster.Replication.Host.PlaceOf(n); n > 0 && (copies[n] != 2 || v.Joins != "" || len(v.Copies) != 2) {
				return false
			}
		}
		return led == placeShards
	})
}

// held returns the shards besides the first of which a node has a copy.
func (s *Server) held() (numbers []uint32) {
	for _, m := range s.members() {
		if m.number != 0 {
			numbers = append(numbers, m.number)
		}
	}
	return numbers
}

// TestPlacement runs one cluster at a time: several side by side, of three nodes or four with eight shards each, keep the disk so
// busy that hand-overs are refused.
func TestPlacement(t *testing.T) {
	t.Parallel()
	t.Run("share", testNodesHoldTheirShare)
	t.Run("reads", testReadsFromCopies)
	t.Run("fresh", testNodeReceivesCheckpoints)
	t.Run("removed", testRemovedNode)
	t.Run("lost bucket", testPlacesOutliveTheirBucket)
	t.Run("another cluster", testPlacesOfAnotherCluster)
	t.Run("zones", testZonesAndWeights)
	t.Run("by hand", testDirectoriesMovedByHand)
}

// testNodesHoldTheirShare: of eight shards on three nodes each has two copies. A fourth node receives its share by itself and
// leads, and gives it back when it drains. Meanwhile ids and versions stay, each tick is decided once, and the data of what a
// node gives up goes.
func testNodesHoldTheirShare(t *testing.T) {
	p := newTroupe(t)
	dirs := map[string]string{"a": t.TempDir(), "b": t.TempDir(), "c": t.TempDir(), "d": t.TempDir()}
	a, b, c := p.placed("a", dirs["a"], nil), p.placed("b", dirs["b"], nil), p.placed("c", dirs["c"], nil)
	for i := range 40 {
		p.put(fmt.Sprint("job-", i))
	}
	settled(t, a, b, c)
	before := p.identities()
	d := p.placed("d", dirs["d"], nil)
	settled(t, a, b, c, d)
	for _, s := range []*Server{a, b, c, d} {
		testkit.Until(t, "node "+s.opts.Node+" has the data of its shards alone", func() bool {
			var has []uint32
			for n := uint32(1); n < placeShards; n++ {
				if _, err := os.Stat(datadir.ShardDir(s.opts.Dir, n)); err == nil {
					has = append(has, n)
				}
			}
			return slices.Equal(has, s.held())
		})
	}
	if err := p.place(client.PlaceRequest{Verb: client.PlaceDrain, Node: "d"}); err != nil {
		t.Fatal(err)
	}
	testkit.Until(t, "d is empty", func() bool { return len(d.leads()) == 0 && len(d.held()) == 0 })
	settled(t, a, b, c)
	_, err := p.client(false).Place(t.Context(), client.PlaceRequest{Verb: client.PlaceRemove, Node: "d"})
	testkit.Refuses(t, err, "node d is there")
	if err := d.Close(t.Context()); err != nil {
		t.Fatal(err)
	}
	p.removes("d")
	testkit.Refuses(t, p.place(client.PlaceRequest{Verb: client.PlaceRemove, Node: "d"}), "there is no node")
	if after := p.identities(); !maps.Equal(before, after) {
		t.Errorf("the jobs were %v, and are %v", before, after)
	}
	for i := range 40 {
		p.eachTickOnce(fmt.Sprint("job-", i), 10)
	}
}

// place asks for a change of places, as an operator does: again while nobody takes the request.
func (p *troupe) place(q client.PlaceRequest) (err error) {
	c := p.client(false)
	testkit.Until(p.t, "somebody answers for the places", func() bool {
		ctx, cancel := context.WithTimeout(p.t.Context(), 5*time.Second)
		defer cancel()
		_, err = c.Place(ctx, q)
		return !client.IsUnavailable(err) && ctx.Err() == nil
	})
	return err
}

// removes takes a node out that has ended, once the others have not heard it for long enough. An answer may be lost.
func (p *troupe) removes(node string) {
	p.t.Helper()
	testkit.Until(p.t, node+" is removed", func() bool {
		err := p.place(client.PlaceRequest{Verb: client.PlaceRemove, Node: node})
		return err == nil || strings.Contains(err.Error(), "there is no node")
	})
}

// testRemovedNode: what a node held that does not come back gets copies elsewhere, once the node is removed and not before. A
// node that is there cannot be removed. When it comes back all the same, it drops what it held.
func testRemovedNode(t *testing.T) {
	p := newTroupe(t)
	dir := t.TempDir()
	a, b, c := p.placed("a", t.TempDir(), nil), p.placed("b", t.TempDir(), nil), p.placed("c", dir, nil)
	for i := range 16 {
		p.put(fmt.Sprint("job-", i))
	}
	settled(t, a, b, c)
	testkit.Refuses(t, p.place(client.PlaceRequest{Verb: client.PlaceRemove, Node: "c"}), "c")
	held := c.held()
	if err := c.Close(t.Context()); err != nil {
		t.Fatal(err)
	}
	p.removes("c")
	settled(t, a, b)
	for i := range 16 {
		p.eachTickOnce(fmt.Sprint("job-", i), 5)
	}
	c = p.placed("c", dir, nil)
	t.Logf("c held %v, and holds %v at first", held, c.held())
	settled(t, a, b, c)
}

// testPlacesOutliveTheirBucket: after a loss of the bucket each node holds what it held.
func testPlacesOutliveTheirBucket(t *testing.T) {
	p := newTroupe(t)
	dirs := []string{t.TempDir(), t.TempDir(), t.TempDir()}
	nodes := []*Server{p.placed("a", dirs[0], nil), p.placed("b", dirs[1], nil), p.placed("c", dirs[2], nil)}
	p.put("job")
	settled(t, nodes...)
	var before [][]uint32
	for _, s := range nodes {
		before = append(before, s.held())
	}
	if err := p.js.DeleteKeyValue(t.Context(), "CARILLON_LEASE_carillon"); err != nil {
		t.Fatal(err)
	}
	testkit.Until(t, "the places are in the bucket again", func() bool {
		kv, err := p.js.KeyValue(t.Context(), "CARILLON_LEASE_carillon")
		if err != nil {
			return false
		}
		for n := 1; n < placeShards; n++ {
			if _, err := kv.Get(t.Context(), fmt.Sprint("place.", n)); err != nil {
				return false
			}
		}
		return true
	})
	settled(t, nodes...)
	for i, s := range nodes {
		if held := s.held(); !slices.Equal(held, before[i]) {
			t.Errorf("node %s held %v, and holds %v", s.opts.Node, before[i], held)
		}
	}
	p.eachTickOnce("job", 5)
}

// testPlacesOfAnotherCluster: what a cluster that was given up has left in the bucket of the prefix, or a foreign program has written
// there, is replaced.
func testPlacesOfAnotherCluster(t *testing.T) {
	p := newTroupe(t)
	kv, err := p.js.CreateKeyValue(t.Context(), jetstream.KeyValueConfig{Bucket: "CARILLON_LEASE_carillon", History: 1})
	if err != nil {
		t.Fatal(err)
	}
	for key, value := range map[string]string{
		"place.1": `{"version":1,"cluster":"00112233445566778899aabbccddeeff","shard":1,"copies":["x"],"change":7}`, "place.2": "{", "drain.a": `{"version":1,"cluster":"00112233445566778899aabbccddeeff","node":"a","drains":true}`,
	} {
		if _, err := kv.PutString(t.Context(), key, value); err != nil {
			t.Fatal(err)
		}
	}
	a, b := p.placed("a", t.TempDir(), nil), p.placed("b", t.TempDir(), nil)
	settled(t, a, b)
}

// testZonesAndWeights: copies of a shard are in different zones, and a node of twice the weight holds about twice as much.
func testZonesAndWeights(t *testing.T) {
	p := newTroupe(t)
	in := func(zone string, weight uint32) func(*Options) {
		return func(o *Options) { o.Zone, o.Weight = zone, weight }
	}
	nodes := []*Server{
		p.placed("a", t.TempDir(), in("east", 1)), p.placed("b", t.TempDir(), in("east", 1)),
		p.placed("c", t.TempDir(), in("west", 2)),
	}
	testkit.Until(t, "each shard has a copy in each zone", func() bool {
		return len(nodes[2].held()) == placeShards-1 && len(nodes[0].held())+len(nodes[1].held()) == placeShards-1 &&
			len(nodes[0].held()) >= 3 && len(nodes[1].held()) >= 3
	})
	testkit.Until(t, "c leads half", func() bool { return len(nodes[2].leads()) == placeShards/2 })
}
