package server

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/carillon-io/carillon/client"
	"github.com/carillon-io/carillon/replication"
	"github.com/carillon-io/carillon/testkit"
)

// TestShardRows: each node shows over HTTP what it knows of each shard, and over NATS the leaders do. A shard that
// is handed over has its new leader there.
func TestShardRows(t *testing.T) {
	t.Parallel()
	p := newTroupe(t)
	a, b := p.startShards("a", t.TempDir()), p.startShards("b", t.TempDir())
	p.putInEach()
	p.levelInEach(a, b)
	for s, role := range map[*Server]string{a: replication.RoleLeader, b: ""} {
		testkit.Until(t, "the node shows two level replicas of each shard", func() bool {
			return p.rowsAre(p.info(s).Shards, role, "a")
		})
	}
	st, err := p.client(false).Status(t.Context())
	if err != nil || st.Cluster == nil || !p.rowsAre(st.Shards, st.Shards[0].Role, "a") {
		t.Errorf("over NATS: %+v, %v", st.Shards, err)
	}
	for _, w := range p.info(a).Warnings {
		if strings.Contains(w, "captures") { // no stream of the cluster is over subjects of its requests
			t.Error(w)
		}
	}
	p.handOver(2, "b")
	testkit.Until(t, "a shows that b leads shard 2", func() bool { row := p.info(a).Shards[2]; return row.Leader == "b" && row.Role == "" })
}

// rowsAre reports whether there is a row for each shard, with one job, the given leader, and both nodes level with it.
func (p *troupe) rowsAre(rows []client.ShardStatus, role, leader string) bool {
	if len(rows) != troupeShards {
		return false
	}
	for i, row := range rows {
		slots := fmt.Sprintf("%d-%d", 64*i, 64*i+63)
		if row.Shard != uint32(i) || row.Slots != slots || row.Role != role || !row.HasLeader || row.Leader != leader || row.Jobs != 1 || row.Epoch != 1 || row.LSN == 0 || len(row.Replicas) != 2 {
			return false
		}
		for j, want := range []string{replication.RoleLeader, replication.RoleStandby} {
			if r := row.Replicas[j]; r.Node != string(rune('a'+j)) || r.Role != want || r.Lag > 100 {
				return false
			}
		}
	}
	return true
}

// TestShardRow: the row of a shard is made of what its nodes say.
func TestShardRow(t *testing.T) {
	nodes := []replication.Peer{
		{Node: "a", Role: "leader", Epoch: 3, LSN: 90, Applied: 90, Silent: 20 * time.Second},
		{Node: "b", Role: "leader", Epoch: 4, LSN: 100, Applied: 97},
		{Node: "c", Role: "joining", LagLSN: 100},
	}
	led := shardRow(1, &replication.ShardView{Leader: "b", Replicas: nodes, Place: replication.Place{Copies: []string{"a", "b"}, Joins: "c", Leaves: "a"}}, 4)
	if led.Replicas[0].Move != "leaves" || led.Replicas[1].Move != "" || led.Replicas[2].Move != "joins" {
		t.Errorf("%+v", led)
	}
	if led.Slots != "64-127" || led.Role != "" || led.Leader != "b" || led.Epoch != 4 || led.LSN != 100 || led.Lag != 3 || len(led.Replicas) != 3 || led.Replicas[0].SilentMS != 20_000 || led.Replicas[2].Lag != 100 {
		t.Errorf("%+v", led)
	}
	if alone := shardRow(3, &replication.ShardView{Replicas: nodes[:1]}, 4); alone.HasLeader || alone.Leader != "" || alone.Epoch != 0 || len(alone.Replicas) != 1 {
		t.Errorf("%+v", alone)
	}
}
