package replication

import (
	"fmt"
	"testing"
	"time"
)

// TestLedBy: who leads is the process that says so with the newest epoch, as long as it is heard. A leader that falls silent is told
// from one that another node has replaced, or that has handed over.
func TestLedBy(t *testing.T) {
	const now = time.Hour
	node := func(name, role string, epoch uint64, silent time.Duration) heardNode {
		return heardNode{seen: now - silent, beat: hostBeat{Node: name, Process: name + "1", Shards: []shardBeat{{Shard: 7, Role: RoleLeader, Epoch: 99}, {Shard: 3, Role: role, Epoch: epoch}}}}
	}
	for _, x := range []struct {
		what  string
		nodes []heardNode
		want  string
	}{
		{"nobody", nil, " false"},
		{"a leader", []heardNode{node("a", RoleLeader, 4, 0), node("b", RoleStandby, 4, 0)}, "a1 false"},
		{"two that say so", []heardNode{node("a", RoleLeader, 4, 0), node("b", RoleLeader, 5, 0)}, "b1 false"},
		{"a silent one", []heardNode{node("a", RoleLeader, 4, beatFresh), node("b", RoleStandby, 4, 0), node("c", RoleStandby, 3, 0)}, " true"},
		{"a silent one and its successor", []heardNode{node("a", RoleLeader, 4, beatFresh), node("b", RoleLeader, 4, 0)}, "b1 false"},
		{"a silent one, and a later leader that has handed over", []heardNode{node("a", RoleLeader, 4, beatFresh), node("b", RoleStandby, 5, 0)}, " false"},
		{"a silent follower", []heardNode{node("a", RoleStandby, 4, beatFresh), node("b", RoleStandby, 4, 0)}, " false"},
	} {
		h := &Host{opts: Options{Boot: func() time.Duration { return now }}, nodes: make(map[string]heardNode)}
		for _, n := range x.nodes {
			h.nodes[n.beat.Node] = n
		}
		process, isSilent := h.LedBy(3)
		if got := fmt.Sprint(process, " ", isSilent); got != x.want {
			t.Errorf("%s: %q; want %q", x.what, got, x.want)
		}
	}
}

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
