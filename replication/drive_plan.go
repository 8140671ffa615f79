package replication

import (
	"time"

	"github.com/carillon-io/carillon/placement"
)

// plan returns the nodes and all shards as the planner sees them. A node that a key names, and that is not heard, is one that is
// not up.
func (h *Host) plan(heard []heardNode, now time.Duration) (nodes []placement.Node, shards []placement.Shard) {
	known := make(map[string]bool)
	for i := range heard {
		n := &heard[i]
		name := n.beat.Node
		known[name] = true
		steady := now-n.since >= steadyAfter
		nodes = append(nodes, placement.Node{
			Name: name, Weight: n.beat.Weight, Zone: n.beat.Zone, Up: n.fresh(now) && steady, Comes: n.fresh(now) && !steady, Drains: h.places.draining(name).value.Drains,
		})
	}
	for _, name := range h.places.named() {
		if !known[name] {
			nodes = append(nodes, placement.Node{Name: name, Weight: 1, Drains: h.places.draining(name).value.Drains})
		}
	}
	for n := range uint32(h.opts.Shards) {
		shards = append(shards, h.planOf(n, heard, now))
	}
	return nodes, shards
}

// planOf returns a shard as the planner sees it.
func (h *Host) planOf(shard uint32, heard []heardNode, now time.Duration) placement.Shard {
	v := h.places.of(shard).value
	s := placement.Shard{Number: shard, Copies: v.Copies, Joins: v.Joins, Leaves: v.Leaves, Pinned: v.Pinned}
	leader, says, led := leaderOf(heard, shard, now)
	if led {
		s.Leader = leader
	}
	for i := range heard {
		n := &heard[i]
		own, has := n.of(shard)
		if !has || !n.fresh(now) {
			continue
		}
		if shard == everywhere {
			s.Copies = append(s.Copies, n.beat.Node)
		}
		if led && isLevel(own, says) && h.mayHold(shard, n.beat.Node) {
			s.Level = append(s.Level, n.beat.Node)
		}
	}
	return s
}

// copies returns how many nodes are to hold a copy of each shard: the most that a node that was heard says. All are to say the
// same; one that is started with a smaller number takes no copy away from the shards of the others.
func (h *Host) copies() int {
	most := h.opts.Copies
	for _, n := range h.heard() {
		most = max(most, min(n.beat.Copies, peersMost))
	}
	return most
}
