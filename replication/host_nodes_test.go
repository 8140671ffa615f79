package replication

import (
	"fmt"
	"testing"
	"time"

	"github.com/carillon-io/carillon/job"
)

// TestUsualElsewhere: what the leaders of the other shards tell is added up; a leader that is silent, or was replaced, tells nothing.
func TestUsualElsewhere(t *testing.T) {
	const now = time.Hour
	led := func(shard uint32, epoch, usual uint64) shardBeat {
		return shardBeat{Shard: shard, Role: RoleLeader, Epoch: epoch, Usual: usual}
	}
	h := &Host{opts: Options{Shards: 4, Boot: func() time.Duration { return now }}, nodes: map[string]heardNode{
		"a": {seen: now, beat: hostBeat{Node: "a", Shards: []shardBeat{led(0, 3, 100), led(1, 3, 20)}}},
		"b": {seen: now, beat: hostBeat{Node: "b", Shards: []shardBeat{led(1, 4, 7), {Shard: 0, Role: RoleStandby, Epoch: 3, Usual: 50}}}},
		"c": {seen: now - beatFresh, beat: hostBeat{Node: "c", Shards: []shardBeat{led(2, 9, 1000)}}},
	}}
	for shard, want := range []string{"7 1", "100 1", "107 2", "107 2"} {
		if got := fmt.Sprint(h.UsualElsewhere(uint32(shard))); got != want {
			t.Errorf("but for shard %d: %s; want %s", shard, got, want)
		}
	}
}

// TestNobodyWaitsForANodeThatHasNothing: a node that starts waits for the nodes that had the shard when it was last known, unless one is
// there and has given its copy up.
func TestNobodyWaitsForANodeThatHasNothing(t *testing.T) {
	const now = time.Hour
	o := Options{Node: "t", Shard: 1, Shards: 4, Boot: func() time.Duration { return now }}.withDefaults()
	other, own := []shardBeat{{Shard: 2, Role: RoleLeader}}, []shardBeat{{Shard: 1, Role: RoleStandby, LSN: 9}}
	for name, c := range map[string]struct {
		x     heardNode
		waits bool
	}{
		"it is there, without the shard": {heardNode{since: now - time.Minute, seen: now, beat: hostBeat{Node: "x", Shards: other}}, false},
		"it has come just now":           {heardNode{since: now, seen: now, beat: hostBeat{Node: "x", Shards: other}}, true},
		"it has the shard":               {heardNode{since: now - time.Minute, seen: now, beat: hostBeat{Node: "x", Shards: own}}, true},
		"it is gone":                     {heardNode{since: now - time.Minute, seen: now - beatFresh, beat: hostBeat{Node: "x", Shards: other}}, true},
	} {
		h := &Host{opts: o, nodes: map[string]heardNode{"x": c.x}}
		n := &Node{opts: o, host: h, peers: newPeers("t"), local: &successorLocal{memLog: logOf(chain(job.Position{}, 1, 3)...)}}
		n.awaiting = awaiting{since: now - 10*time.Second, known: Known{Nodes: []string{"x"}}}
		if nodes, left := n.awaited(now); (len(nodes) > 0) != c.waits {
			t.Errorf("%s: it waits for %v for %s", name, nodes, left)
		}
	}
}

// TestLacksOne: a node that was there and is silent may lead, whatever shards it had. One that is heard, and has given its copy of this
// shard up, does not.
func TestLacksOne(t *testing.T) {
	const now, since = time.Hour, time.Hour - 10*time.Second
	heard := func(ago time.Duration) map[string]heardNode {
		return map[string]heardNode{"t": {seen: now - ago}, "x": {seen: now - ago, beat: hostBeat{Node: "x"}}}
	}
	for name, c := range map[string]struct {
		peer  time.Duration // how long ago x was heard of this shard; 0: never
		nodes map[string]heardNode
		want  bool
	}{
		"silent, of this shard":         {5 * time.Second, nil, true},
		"silent, of another shard":      {0, heard(5 * time.Second), true},
		"heard, and without this shard": {5 * time.Second, heard(0), false},
		"silent since long ago":         {time.Minute, heard(time.Minute), false},
		"heard":                         {time.Millisecond, heard(0), false},
	} {
		n := &Node{opts: Options{Node: "t", Shards: 2}, host: &Host{opts: Options{Node: "t"}, nodes: c.nodes}, peers: newPeers("t")}
		if c.peer != 0 {
			n.peers.heard(beat{Node: "x"}, now-c.peer)
		}
		if got := n.lacksOne(since, now); got != c.want {
			t.Errorf("%s: %t", name, got)
		}
	}
}
