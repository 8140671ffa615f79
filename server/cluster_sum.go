package server

import (
	"slices"

	"github.com/carillon-io/carillon/client"
	"github.com/carillon-io/carillon/replication"
)

// sumClusters returns what the nodes of all shards of a process report, as one report. Counts are sums, times of lag the
// longest, and the trust is the shortest of the shards that the process leads. Names, the holder and the term are those of the
// first shard.
func sumClusters(all []*client.Cluster) *client.Cluster {
	sum := *all[0]
	sum.Void, sum.Nodes, sum.Warnings = make(map[string]uint64), nil, nil
	sum.Role, sum.TrustMS, sum.Lag, sum.LagMS, sum.Waits = "", 0, 0, 0, ""
	for _, c := range all {
		if c.Role == replication.RoleLeader && (sum.Role != replication.RoleLeader || c.TrustMS < sum.TrustMS) {
			sum.TrustMS = c.TrustMS
		}
		sum.Role = roleOf(sum.Role, c.Role)
		sum.Lag, sum.LagMS = sum.Lag+c.Lag, max(sum.LagMS, c.LagMS)
		if sum.Waits == "" {
			sum.Waits = c.Waits
		}
		for reason, n := range c.Void {
			sum.Void[reason] += n
		}
		for _, n := range c.Nodes {
			sum.Nodes = addNode(sum.Nodes, n)
		}
		for _, text := range c.Warnings {
			if !slices.Contains(sum.Warnings, text) {
				sum.Warnings = append(sum.Warnings, text)
			}
		}
	}
	return &sum
}

// addNode adds to the nodes of some shards what another shard says of one of them.
func addNode(nodes []client.ClusterNode, n client.ClusterNode) []client.ClusterNode {
	at := slices.IndexFunc(nodes, func(known client.ClusterNode) bool { return known.Node == n.Node })
	if at < 0 {
		return append(nodes, n)
	}
	sum := &nodes[at]
	sum.Role, sum.Epoch = roleOf(sum.Role, n.Role), max(sum.Epoch, n.Epoch)
	sum.LSN, sum.AppliedLSN, sum.Lag = sum.LSN+n.LSN, sum.AppliedLSN+n.AppliedLSN, sum.Lag+n.Lag
	sum.SilentMS = min(sum.SilentMS, n.SilentMS)
	return nodes
}

// roles are those of a node, in the order in which one of them stands for those of its shards: it leads if it leads one, and
// stands by if it does in all.
var roles = []string{replication.RoleLeader, replication.RoleCandidate, replication.RoleJoining, replication.RoleStandby}

// roleOf returns the role of a node that has two roles in two shards; "" is none.
func roleOf(a, b string) string {
	for _, role := range roles {
		if a == role || b == role {
			return role
		}
	}
	return b
}
