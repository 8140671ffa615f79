package main

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/carillon-io/carillon/client"
	"github.com/carillon-io/carillon/terminal"
)

// shardsOf returns the row of each shard of a status. A server with one shard sends none, so its row is made of the rest.
func shardsOf(s *client.Status) []client.ShardStatus {
	if len(s.Shards) > 0 {
		return s.Shards
	}
	row := client.ShardStatus{Shard: s.Shard, Slots: "0-255"}
	row.HasLeader, row.Epoch, row.LSN, row.Jobs, row.Lag = s.Role == "leader", s.Epoch, s.LSN, s.Jobs, s.Lag
	if row.HasLeader {
		row.Role = s.Role
	}
	if s.Cluster == nil {
		return []client.ShardStatus{row}
	}
	row.Replicas = s.Cluster.Replicas()
	for _, n := range row.Replicas {
		if n.Role == "leader" && !isSilent(n.SilentMS) {
			row.HasLeader, row.Leader = true, n.Node
		}
	}
	return []client.ShardStatus{row}
}

// silentAfter is how long a node is silent before that is shown. Beats come four times a second; a shorter silence is a busy
// machine.
const silentAfter = 5 * time.Second

// isSilent reports whether a node was not heard of for long.
func isSilent(silentMS float64) bool { return millis(silentMS) > silentAfter }

// millis returns a number of milliseconds as a duration.
func millis(ms float64) time.Duration { return time.Duration(ms * float64(time.Millisecond)) }

// showReplica returns a node of a shard with its role, and what is wrong with it.
func showReplica(r *client.ShardReplica) string {
	text := strings.TrimSpace(r.Node + " " + r.Role)
	if r.Move != "" {
		text += " " + r.Move
	}
	if r.Lag > 0 {
		text += fmt.Sprintf(" %s behind", plural(r.Lag, "commit"))
	}
	if isSilent(r.SilentMS) {
		text += " silent for " + terminal.Span(millis(r.SilentMS))
	}
	return text
}

// showReplicas returns the replicas of a shard, without its leader, which is shown by itself.
func showReplicas(row *client.ShardStatus) string {
	var parts []string
	for i := range row.Replicas {
		if row.Replicas[i].Node != row.Leader {
			parts = append(parts, showReplica(&row.Replicas[i]))
		}
	}
	return orDash(strings.Join(parts, ", "))
}

// showLeader returns the leader of a shard. A node alone has no name.
func showLeader(row *client.ShardStatus) string {
	if !row.HasLeader {
		return "none"
	}
	return orDash(row.Leader)
}

// shardLines returns the rows of a status about the shards of a cluster of several.
func shardLines(s *client.Status) (rows [][2]string) {
	for i := range s.Shards {
		row := &s.Shards[i]
		text := "no leader"
		if row.HasLeader {
			text = fmt.Sprintf("%s leads, epoch %d, LSN %d, %s", showLeader(row), row.Epoch, row.LSN, plural(row.Jobs, "job"))
		}
		if others := showReplicas(row); others != "-" {
			text += "; " + others
		}
		rows = append(rows, [2]string{fmt.Sprintf("shard %d", row.Shard), fmt.Sprintf("slots %s, %s", row.Slots, text)})
	}
	return rows
}

// nodeRow is the part that a node has in the shards of its cluster. It is the JSON of `node list`.
type nodeRow struct {
	Node     string   `json:"node"`
	Leads    []uint32 `json:"leads"`   // numbers of shards
	Follows  []uint32 `json:"follows"` // as a standby
	Joins    []uint32 `json:"joins"`   // neither yet: it receives the data of the shard, or is about to lead it
	Lag      uint64   `json:"lag"`     // commits behind the leaders, over all shards
	SilentMS float64  `json:"silent_ms"`
	Version  string   `json:"version"`
	Weight   uint32   `json:"weight,omitempty"` // capacity, relative to that of the others; only of several shards
	Zone     string   `json:"zone,omitempty"`
	Drains   bool     `json:"drains,omitempty"` // it is to hold nothing
}

// state returns what is special about the node; "" if nothing is.
func (r *nodeRow) state() string {
	switch {
	case r.Drains:
		return "drains"
	case r.Weight > 1:
		return fmt.Sprintf("weight %d", r.Weight)
	}
	return ""
}

// nodesOf returns the nodes of a cluster in the order of their names; none of a node alone. A shard without a leader is led
// by none of them, whatever a node has said last.
func nodesOf(s *client.Status) (rows []nodeRow) {
	if s.Cluster == nil {
		return nil
	}
	shards := shardsOf(s)
	for _, n := range s.Cluster.Nodes {
		row := nodeRow{Node: n.Node, SilentMS: n.SilentMS, Version: n.Version, Weight: n.Weight, Zone: n.Zone, Drains: n.Drains}
		for i := range shards {
			row.take(&shards[i])
		}
		rows = append(rows, row)
	}
	slices.SortFunc(rows, func(a, b nodeRow) int { return strings.Compare(a.Node, b.Node) })
	return rows
}

// take adds the part of the node in one shard.
func (r *nodeRow) take(shard *client.ShardStatus) {
	for _, replica := range shard.Replicas {
		switch {
		case replica.Node != r.Node:
			continue
		case shard.Leader == r.Node:
			r.Leads = append(r.Leads, shard.Shard)
		case replica.Role == "standby":
			r.Follows = append(r.Follows, shard.Shard)
		case replica.Role != "leader":
			r.Joins = append(r.Joins, shard.Shard)
		}
		r.Lag += replica.Lag
	}
}

// showNumbers returns sorted numbers of shards with ranges, such as 0-3,7; a dash for none.
func showNumbers(numbers []uint32) string {
	var parts []string
	for i := 0; i < len(numbers); {
		end := i + 1
		for end < len(numbers) && numbers[end] == numbers[end-1]+1 {
			end++
		}
		part := fmt.Sprint(numbers[i])
		if end-i > 1 {
			part += fmt.Sprintf("-%d", numbers[end-1])
		}
		parts, i = append(parts, part), end
	}
	return orDash(strings.Join(parts, ","))
}
