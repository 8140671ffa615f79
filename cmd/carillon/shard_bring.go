package main

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/carillon-io/carillon/client"
)

// isNode returns an error if a cluster of several shards has no node of a name, as far as the answering node has heard.
func isNode(s *client.Status, node string) error {
	var names []string
	for i := range s.Shards {
		if holds(&s.Shards[i], node) {
			return nil
		}
	}
	for _, n := range s.Cluster.Nodes {
		names = append(names, n.Node)
	}
	if len(s.Shards) == 0 || slices.Contains(names, node) {
		return nil
	}
	slices.Sort(names)
	return fmt.Errorf("there is no node %s; the cluster has %s", node, strings.Join(names, ", "))
}

// isElsewhere reports whether a node of the cluster holds no copy of one of several shards, but for the first one: that is on every
// node, or will be by itself.
func isElsewhere(s *client.Status, row *client.ShardStatus, node string) bool {
	return len(s.Shards) > 0 && row.Shard > 0 && isNode(s, node) == nil && !holds(row, node)
}

// holds reports whether a node holds or receives a copy of a shard.
func holds(row *client.ShardStatus, node string) bool {
	return slices.ContainsFunc(row.Replicas, func(r client.ShardReplica) bool { return r.Node == node })
}

// bring lets a node receive a copy of a shard, when no other move is in the way, and waits until it has all.
func (r *remote) bring(ctx context.Context, con *console, most time.Duration, row *client.ShardStatus, to string) error {
	ctx, cancel := context.WithTimeout(ctx, most)
	defer cancel()
	if _, err := r.place(ctx, most, client.PlaceRequest{Verb: client.PlaceMove, Shard: row.Shard, To: to}); err != nil {
		return err
	}
	con.notef("node %s receives a copy of shard %d\n", to, row.Shard)
	for {
		s, err := r.Status(ctx)
		if err == nil {
			row, err := shardIn(&s, row.Shard)
			if err != nil {
				return err
			}
			if i := slices.IndexFunc(row.Replicas, func(r client.ShardReplica) bool { return r.Node == to }); i >= 0 && row.HasLeader && row.Replicas[i].Move == "" && (row.Leader == to || row.Replicas[i].Role == "standby") {
				return nil
			}
		}
		select {
		case <-ctx.Done():
			return fmt.Errorf("after %s node %s has not all of shard %d yet; the cluster goes on: see 'carillon shard list'", most, to, row.Shard)
		case <-time.After(emptyPoll):
		}
	}
}
