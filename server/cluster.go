package server

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/carillon-io/carillon/client"
	"github.com/carillon-io/carillon/job"
	"github.com/carillon-io/carillon/replication"
)

// aboutCluster returns the function that describes the cluster; nil if there is none.
func (s *Server) aboutCluster() func() *client.Cluster {
	switch {
	case !s.opts.clustered():
		return nil
	case !s.divided():
		return s.aboutShard(s.first())
	}
	return func() *client.Cluster {
		var all []*client.Cluster
		for _, m := range s.members() {
			all = append(all, s.clusterInfo(m))
		}
		sum := sumClusters(all)
		s.describeNodes(sum)
		return sum
	}
}

// describeNodes adds what the nodes say of themselves for all of their shards, of which this node need not have all, and leaves
// out the nodes that an operator has taken out.
func (s *Server) describeNodes(sum *client.Cluster) {
	shards, views := s.cluster.Replication.Host.View()
	sum.Nodes = slices.DeleteFunc(sum.Nodes, func(n client.ClusterNode) bool {
		return !slices.ContainsFunc(views, func(v replication.NodeView) bool { return v.Node == n.Node })
	})
	for _, v := range views {
		for i := range sum.Nodes {
			if n := &sum.Nodes[i]; n.Node == v.Node {
				n.Weight, n.Zone, n.Drains = v.Weight, v.Zone, v.Drains
				if slices.ContainsFunc(shards, func(s replication.ShardView) bool { return s.Leader == v.Node }) {
					n.Role = replication.RoleLeader
				}
			}
		}
		if want := s.opts.copies(); v.Copies != want {
			sum.Warnings = append(sum.Warnings, fmt.Sprintf("node %s is to keep %d copies of a shard, and this one %d: give all nodes the same --copies", v.Node, v.Copies, want))
		}
	}
}

// aboutShard returns the function that describes the cluster as the node of one shard sees it; nil if there is none.
func (s *Server) aboutShard(m *member) func() *client.Cluster {
	if !s.opts.clustered() {
		return nil
	}
	return func() *client.Cluster { return s.clusterInfo(m) }
}

// clusterInfo returns what the node of a shard reports about itself and the others.
func (s *Server) clusterInfo(m *member) *client.Cluster {
	st := m.shard.Node().Status()
	info := &client.Cluster{
		Name: st.Cluster, ID: st.ClusterID.String(), Node: st.Node, Role: st.Role, Durability: s.opts.Durability,
		Holder: st.Holder, Term: st.Term, TrustMS: millisOf(st.Trust), Lag: st.LagLSN, LagMS: millisOf(st.Lag), Waits: waitsFor(st),
		Warnings: slices.Concat(s.around.Weaknesses(), commitWarnings(st), m.zoneWarnings(), m.versionWarnings(), m.calendarWarnings(), waitWarnings(st), flawWarnings(st)),
		Void: map[string]uint64{
			"alien": st.Voids.Alien, "foreign": st.Voids.Foreign, "deposed": st.Voids.Deposed,
			"repeated": st.Voids.Repeated, "unchained": st.Voids.Unchained,
		},
	}
	for _, p := range st.Nodes {
		info.Nodes = append(info.Nodes, client.ClusterNode{
			Node: p.Node, Role: p.Role, Epoch: p.Epoch, LSN: p.LSN, AppliedLSN: p.Applied, Lag: p.LagLSN,
			SilentMS: millisOf(p.Silent), ClockOffsetMS: millisOf(p.Offset), Version: p.Release, RowsVersion: int(p.Rows),
		})
	}
	return info
}

// flawWarnings says what an operator has changed in NATS of what the cluster counts on.
func flawWarnings(st replication.Status) (warnings []string) {
	for _, f := range st.Flaws {
		warnings = append(warnings, f.String())
	}
	return warnings
}

// waitWarnings says what a node waits for, and why it must not lead.
func waitWarnings(st replication.Status) (warnings []string) {
	if text := waitsFor(st); text != "" {
		warnings = append(warnings, text)
	}
	if st.Barred != nil {
		warnings = append(warnings, "this node must not lead: "+st.Barred.Error())
	}
	return warnings
}

// waitsFor names the members for which a node waits before it leads; "" if it does not wait.
func waitsFor(st replication.Status) string {
	if len(st.Awaits) == 0 {
		return ""
	}
	return fmt.Sprintf("no node leads, and other members may have more of the log: this node waits for %s, for at most %s; start them, or this node with --lead-alone",
		strings.Join(st.Awaits, ", "), st.AwaitsLeft.Round(time.Second))
}

// commitWarnings warns that the commits of this leader do not reach the stream.
func commitWarnings(st replication.Status) []string {
	if st.Role != replication.RoleLeader || st.Lag == 0 {
		return nil
	}
	return []string{fmt.Sprintf("commits have waited for the stream of the log for %s: NATS elects a leader for it, lacks a majority of its servers, or refuses them; "+
		"what was committed ahead is launched, and nothing after that; the log of this node has the error", st.Lag.Truncate(time.Second))}
}

// versionWarnings warns of nodes that can read older rows only: changes that need newer rows are refused meanwhile.
// Once there are newer rows, such a node cannot follow.
func (m *member) versionWarnings() (warnings []string) {
	if m.shard.Engine() == nil {
		return nil
	}
	st := m.shard.Status()
	for _, r := range m.shard.Node().Older(st.Readers) {
		effect := fmt.Sprintf("and this one up to %d: jobs that need newer rows are refused until it is upgraded", job.RowsVersion)
		if r.Rows < st.RowsVersion {
			effect = fmt.Sprintf("and there are rows of version %d already: upgrade it, or it ends when it meets them", st.RowsVersion)
		}
		warnings = append(warnings, fmt.Sprintf("node %s (%s) reads rows up to version %d, %s; if it was taken out of the cluster for good, it counts for ten minutes",
			r.Node, cmp.Or(r.Release, "of an older release"), r.Rows, effect))
	}
	return warnings
}

// zoneWarnings warns that this node, if it led, would use other timezone rules than the leader.
func (m *member) zoneWarnings() []string {
	if m.shard.Engine() == nil {
		return nil // it is not open yet
	}
	z := m.shard.Status().Zones
	if z.Differs == 0 {
		return nil
	}
	return []string{fmt.Sprintf("the zone rules of this node (%s %s) differ from those that the leader plans by, in %d of %d zones: if this node leads, their jobs are planned anew; run the same version with the same --tzdata on all nodes",
		z.Source, z.Version, z.Differs, z.Count)}
}

func millisOf(d time.Duration) float64 { return float64(d.Microseconds()) / 1000 }
