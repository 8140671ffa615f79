package main

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/carillon-io/carillon/client"
)

// isElsewhere reports whether a node of the cluster holds no copy of one of several shards, but for the first one: that is on every
// node, or will be by itself.
func isElsewhere(s *client.Status, row *client.ShardStatus, node string) bool {
	isNode := slices.ContainsFunc(s.Cluster.Nodes, func(n client.ClusterNode) bool { return n.Node == node })
	return len(s.Shards) > 0 && row.Shard > 0 && isNode && !holds(row, node)
}

// holds reports whether a node holds or receives a copy of a shard.
func holds(row *client.ShardStatus, node string) bool {
	return slices.ContainsFunc(row.Replicas, func(r client.ShardReplica) bool { return r.Node == node })
}

// bring lets a node receive a copy of a shard, when no other move is in the way, and waits until it has all. It returns the row
// of the shard then.
func (r *remote) bring(ctx context.Context, con *console, most time.Duration, row *client.ShardStatus, to string) (*client.ShardStatus, error) {
	ctx, cancel := context.WithTimeout(ctx, most)
	defer cancel()
	if err := r.place(ctx, most, client.PlaceRequest{Verb: client.PlaceMove, Shard: row.Shard, To: to}); err != nil {
		return nil, err
	}
	con.notef("node %s receives a copy of shard %d\n", to, row.Shard)
	for {
		s, err := r.Status(ctx)
		if err == nil {
			row, err := shardIn(&s, row.Shard)
			if err != nil {
				return nil, err
			}
			if i := slices.IndexFunc(row.Replicas, func(r client.ShardReplica) bool { return r.Node == to }); i >= 0 && row.HasLeader && row.Replicas[i].Move == "" && (row.Leader == to || row.Replicas[i].Role == "standby") {
				return row, nil
			}
		}
		select {
		case <-ctx.Done():
			return nil, fmt.Errorf("after %s node %s has not all of shard %d yet; the cluster goes on: see 'carillon shard list'", most, to, row.Shard)
		case <-time.After(emptyPoll):
		}
	}
}

// comesTime is how long comesToLead waits: a hand-over takes a tenth of a second, and a status shows it a moment later.
const comesTime = 2 * time.Second

// comesToLead returns the row of a shard once a node leads it, and nil if it does not soon. It is for a hand-over that was refused,
// because the cluster may have handed the shard over to that node by itself at the same time.
func comesToLead(ctx context.Context, status func(context.Context) (client.Status, error), shard uint32, node string) *client.ShardStatus {
	ctx, cancel := context.WithTimeout(ctx, comesTime)
	defer cancel()
	for {
		s, err := status(ctx)
		if err == nil {
			if row, err := shardIn(&s, shard); err == nil && row.HasLeader && row.Leader == node {
				return row
			}
		}
		select {
		case <-ctx.Done():
			return nil
		case <-time.After(10 * handoverPoll):
		}
	}
}

// leadsAlready prints that the node leads the shard, which its last leader has handed over to it with its copy.
func (c *shardMoveCmd) leadsAlready(con *console, row *client.ShardStatus) error {
	if c.isDocument() {
		return c.print(con, handedOver{Shard: row.Shard, To: row.Leader, Epoch: row.Epoch})
	}
	con.printf("%s leads shard %d, in epoch %d\n", row.Leader, row.Shard, row.Epoch)
	return nil
}
