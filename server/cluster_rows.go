package server

import (
	"slices"

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
		shards, _ := s.cluster.Replication.Host.View()
		rows := make([]client.ShardStatus, 0, len(shards))
		for n := range shards {
			row := shardRow(uint32(n), &shards[n], len(shards))
			if m := s.memberOf(row.Shard); m != nil {
				st := m.shard.Status()
				switch {
				case st.Role == replication.RoleLeader:
					row.Role, row.Jobs = st.Role, st.Jobs
				case !row.HasLeader:
					row.Jobs = st.Jobs
				}
			}
			rows = append(rows, row)
		}
		return rows
	}
}

// shardRow returns what a node has heard of a shard, itself included. Without a leader the numbers that would be the leader's
// are 0.
func shardRow(number uint32, v *replication.ShardView, shards int) client.ShardStatus {
	row := api.NewShardStatus(number, shards)
	row.HasLeader, row.Leader, row.Jobs = v.Leader != "", v.Leader, v.Jobs
	for _, p := range v.Replicas {
		row.Replicas = append(row.Replicas, client.ShardReplica{
			Node: p.Node, Role: p.Role, LSN: p.LSN, Lag: p.LagLSN, SilentMS: millisOf(p.Silent), Move: moveOf(number, p.Node, &v.Place),
		})
		if p.Node == v.Leader {
			row.Epoch, row.LSN, row.Lag = p.Epoch, p.LSN, p.LSN-min(p.Applied, p.LSN)
		}
	}
	return row
}

// moveOf returns whether a node receives a copy of a shard, or gives it up; "" if neither. Each node has the first one.
func moveOf(shard uint32, node string, place *replication.Place) string {
	switch {
	case shard == 0 || len(place.Copies) == 0:
		return ""
	case place.Joins == node:
		return "joins"
	case place.Leaves == node, !slices.Contains(place.Copies, node):
		return "leaves"
	}
	return ""
}
