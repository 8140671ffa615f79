package server

import (
	"github.com/carillon-io/carillon/api"
	"github.com/carillon-io/carillon/client"
	"github.com/carillon-io/carillon/replication"
)

// aboutShards returns the function that describes each shard as this node sees it; nil if there is only one.
func (s *Server) aboutShards() func() []client.ShardStatus {
	if !s.divided() {
		return nil
	}
	return func() []client.ShardStatus {
		rows := make([]client.ShardStatus, 0, len(s.members))
		for _, m := range s.members {
			row := shardRow(m.number, len(s.members), m.shard.Node().Status())
			row.Jobs = m.shard.Status().Jobs
			rows = append(rows, row)
		}
		return rows
	}
}

// shardRow returns what a node has heard of one of so many shards, itself included. Without a leader the numbers that would be
// the leader's are 0.
func shardRow(number uint32, shards int, st replication.Status) client.ShardStatus {
	row := api.NewShardStatus(number, shards)
	if st.Role == replication.RoleLeader {
		row.Role = st.Role
	}
	row.HasLeader, row.Leader = st.Leader != "", st.Leader
	for _, p := range st.Nodes {
		row.Replicas = append(row.Replicas, client.ShardReplica{Node: p.Node, Role: p.Role, LSN: p.LSN, Lag: p.LagLSN, SilentMS: millisOf(p.Silent)})
		if p.Node == st.Leader {
			row.Epoch, row.LSN, row.Lag = p.Epoch, p.LSN, p.LSN-min(p.Applied, p.LSN)
		}
	}
	return row
}
