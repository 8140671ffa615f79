package replication

import (
	"fmt"
	"slices"
	"testing"
	"time"
)

// TestLedBy: who leads is the process that says so with the newest epoch, as long as it is heard. A leader that falls silent is told
// from one that another node has replaced, or that has handed over.
func TestLedBy(t *testing.T) {
	const now, lease = time.Hour, 15 * time.Second
	node := func(name, role string, epoch uint64, silent time.Duration) heardNode {
		return heardNode{seen: now - silent, beat: hostBeat{Node: name, Process: name + "1", Shards: []shardBeat{{Shard: 7, Role: RoleLeader, Epoch: 99}, {Shard: 3, Role: role, Epoch: epoch}}}}
	}
	for _, x := range []struct {
		what  string
		nodes []heardNode
		want  string // who leads, whether the last leader is silent, whether a leader may hang, and who follows
	}{
		{"nobody", nil, " false false []"},
		{"a leader", []heardNode{node("a", RoleLeader, 4, 0), node("b", RoleStandby, 4, 0)}, "a1 false false [b1]"},
		{"two that say so", []heardNode{node("a", RoleLeader, 4, 0), node("b", RoleLeader, 5, 0)}, "b1 false false []"},
		{"a silent one", []heardNode{node("a", RoleLeader, 4, beatFresh), node("b", RoleStandby, 4, 0), node("c", RoleStandby, 3, 0)}, " true true [b1 c1]"},
		{"a silent one and its successor", []heardNode{node("a", RoleLeader, 4, beatFresh), node("b", RoleLeader, 4, 0)}, "b1 false true []"},
		{"a silent one, and a later leader that has handed over", []heardNode{node("a", RoleLeader, 4, beatFresh), node("b", RoleStandby, 5, 0)}, " false true [b1]"},
		{"a silent follower", []heardNode{node("a", RoleStandby, 4, beatFresh), node("b", RoleStandby, 4, 0)}, " false true [b1]"},
		{"one that is silent for longer than a lease", []heardNode{node("a", RoleStandby, 4, lease), node("b", RoleStandby, 4, 0)}, " false false [b1]"},
	} {
		h := &Host{opts: Options{Lease: lease, Boot: func() time.Duration { return now }}, nodes: make(map[string]heardNode)}
		single := &Host{opts: Options{Lease: lease, Shards: 1, Boot: h.opts.Boot}, members: map[uint32]*hosted{0: {Node: &Node{peers: newPeers("own")}}}}
		for _, n := range x.nodes {
			h.nodes[n.beat.Node] = n
			s, _ := n.of(3)
			single.members[0].peers.byName[n.beat.Node] = peer{beat: beat{Node: n.beat.Node, Process: n.beat.Process, Role: s.Role, Epoch: s.Epoch}, seen: n.seen}
			for shard, h := range map[uint32]*Host{3: h, 0: single} {
				if h.Hears(shard, n.beat.Process) != (n.seen == now) || h.Hears(shard, "other") {
					t.Errorf("%s: %s is heard: %v", x.what, n.beat.Process, h.Hears(shard, n.beat.Process))
				}
			}
		}
		for shard, h := range map[uint32]*Host{3: h, 0: single} {
			process, isSilent := h.LedBy(shard)
			follow := h.FollowedBy(shard)
			slices.Sort(follow)
			if got := fmt.Sprint(process, " ", isSilent, " ", h.MayHang(shard), " ", follow); got != x.want {
				t.Errorf("%s: %q; want %q", x.what, got, x.want)
			}
		}
	}
}
