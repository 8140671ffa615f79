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
