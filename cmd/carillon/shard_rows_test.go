package main

import (
	"slices"
	"strings"
	"testing"

	"github.com/carillon-io/carillon/client"
)

// brokenShards is the status of a cluster of three shards: the first has a leader, and a node that joins and one that is silent,
// the second has no leader, and the third is led by the node that is silent elsewhere.
func brokenShards() *client.Status {
	return &client.Status{
		Role: "leader", Cluster: &client.Cluster{Nodes: []client.ClusterNode{{Node: "c", SilentMS: 9000}, {Node: "a", Version: "v9"}, {Node: "b"}}},
		Shards: []client.ShardStatus{
			{Shard: 0, Slots: "0-127", HasLeader: true, Role: "leader", Leader: "a", Epoch: 3, LSN: 70, Jobs: 1, Replicas: []client.ShardReplica{
				{Node: "a", Role: "leader"}, {Node: "b", Role: "joining", Lag: 40}, {Node: "c", Role: "standby", SilentMS: 9000},
			}},
			{Shard: 1, Slots: "128-191", Replicas: []client.ShardReplica{{Node: "a", Role: "standby"}, {Node: "b", Role: "standby", Lag: 1}, {Node: "c", Role: "leader", SilentMS: 9000}}},
			{Shard: 2, Slots: "192-255", HasLeader: true, Leader: "c", Epoch: 1, Replicas: []client.ShardReplica{{Node: "c", Role: "leader"}}},
		},
	}
}

// TestShardLines: a shard without a leader is shown as such, and with the nodes that have it.
func TestShardLines(t *testing.T) {
	want := [][2]string{
		{"shard 0", "slots 0-127, a leads, epoch 3, LSN 70, 1 job; b joining 40 commits behind, c standby silent for 9s"},
		{"shard 1", "slots 128-191, no leader; a standby, b standby 1 commit behind, c leader silent for 9s"},
		{"shard 2", "slots 192-255, c leads, epoch 1, LSN 0, 0 jobs"},
	}
	if got := shardLines(brokenShards()); !slices.Equal(got, want) {
		t.Errorf("%q", got)
	}
}

// TestNodesOfShards: a node leads only what the shards say, and not what it said last itself.
func TestNodesOfShards(t *testing.T) {
	rows := nodesOf(brokenShards())
	var got []string
	for _, r := range rows {
		got = append(got, strings.Join([]string{r.Node, showNumbers(r.Leads), showNumbers(r.Follows), showNumbers(r.Joins), showCount(r.Lag), r.Version}, " "))
	}
	if want := []string{"a 0 1 - 0 v9", "b - 1 0 41 ", "c 2 0 - 0 "}; !slices.Equal(got, want) {
		t.Errorf("%q", got)
	}
	if got := showNumbers([]uint32{0, 1, 2, 5, 7, 8}); got != "0-2,5,7-8" {
		t.Error(got)
	}
}

// TestCanLead: a shard goes to no node that is not there, not level by its role, silent, or the leader already.
func TestCanLead(t *testing.T) {
	s := brokenShards()
	for _, c := range []struct {
		shard      int
		node, want string
		passes     bool
	}{
		{0, "a", "node a leads shard 0 already", false}, {0, "b", "node b cannot take shard 0 over: b joining 40 commits behind", true},
		{0, "c", "node c cannot take shard 0 over: c standby silent for 9s", false}, {0, "d", "there is no node d with shard 0; it is on a, b, c", false},
		{1, "a", "shard 1 has no leader that answers", true}, {2, "a", "there is no node a with shard 2; it is on c", false},
	} {
		if err := canLead(&s.Shards[c.shard], c.node); err == nil || !strings.Contains(err.Error(), c.want) || isRefusedForNow(err) != c.passes {
			t.Errorf("shard %d to %s: %v; passes by itself: %t", c.shard, c.node, err, isRefusedForNow(err))
		}
	}
	s.Shards[0].Replicas[1].Role = "standby" // how far it may be behind, the leader says
	if err := canLead(&s.Shards[0], "b"); err != nil {
		t.Error(err)
	}
}

// TestHandoverMoves: nothing is handed over if a part of it cannot be, or not at the moment.
func TestHandoverMoves(t *testing.T) {
	s := brokenShards()
	s.Shards[2].Leader, s.Shards[2].Replicas = "a", []client.ShardReplica{{Node: "a", Role: "leader"}, {Node: "b", Role: "standby"}}
	if _, err := (&handoverCmd{To: "b"}).moves(s); err == nil || !strings.Contains(err.Error(), "shard 0 over: b joining") || !isRefusedForNow(err) {
		t.Error(err)
	}
	s.Shards[2].Replicas[1].SilentMS = 9000
	if _, err := (&handoverCmd{To: "b"}).moves(s); err == nil || isRefusedForNow(err) || strings.Contains(err.Error(), "shard 0") {
		t.Errorf("with one that stays: %v", err)
	}
	moves, err := (&handoverCmd{}).moves(s)
	if want := []handoverOf{{0, "", true}, {2, "", true}}; err != nil || !slices.Equal(moves, want) {
		t.Errorf("%+v %v", moves, err)
	}
	s.Shards[0].HasLeader, s.Shards[0].Leader = false, ""
	if _, err := (&handoverCmd{}).moves(s); err == nil || !strings.Contains(err.Error(), "shard 0 has no leader") {
		t.Error(err)
	}
}
