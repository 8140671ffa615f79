package replication

import (
	"time"

	"github.com/carillon-io/carillon/placement"
)

// outlook is the cluster as the planner sees it, with the keys by which it does: what is decided by an outlook is written only over
// these states of the keys, so no decision is written over what it did not know.
type outlook struct {
	nodes  []placement.Node
	shards []placement.Shard
	places []placeSeen          // of the shards
	drains map[string]drainSeen // of the nodes
}

// placed returns the shards whose copies move.
func (o *outlook) placed() []placement.Shard { return o.shards[everywhere+1:] }

// outlook returns the outlook at present by what this process has heard. With one shard it has the nodes alone: each has a copy.
func (h *Host) outlook(now time.Duration) outlook {
	if h.opts.Shards > 1 {
		return h.plan(h.heard(), now)
	}
	var heard []heardNode
	if m := h.member(everywhere); m != nil {
		for _, p := range m.peers.all(now) {
			heard = append(heard, heardNode{beat: hostBeat{Node: p.Node}, seen: p.seen})
		}
	}
	return h.plan(heard, now)
}

// plan returns the outlook by what was heard. A node that a key names, and that is not heard, is one that is not up.
func (h *Host) plan(heard []heardNode, now time.Duration) outlook {
	o := outlook{places: h.places.all(), drains: h.places.allDrains()}
	known := make(map[string]bool)
	for i := range heard {
		n := &heard[i]
		name := n.beat.Node
		known[name] = true
		steady := now-n.since >= steadyAfter
		o.nodes = append(o.nodes, placement.Node{
			Name: name, Weight: n.beat.Weight, Zone: n.beat.Zone, Up: n.fresh(now) && steady, Comes: n.fresh(now) && !steady, Drains: o.drains[name].value.Drains,
		})
	}
	for _, name := range namedBy(o.places, o.drains) {
		if !known[name] {
			o.nodes = append(o.nodes, placement.Node{Name: name, Weight: 1, Drains: o.drains[name].value.Drains})
		}
	}
	for n := range uint32(h.opts.Shards) {
		o.shards = append(o.shards, h.planOf(n, &o.places[n], heard, now))
	}
	return o
}

// planOf returns a shard as the planner sees it, by its place.
func (h *Host) planOf(shard uint32, at *placeSeen, heard []heardNode, now time.Duration) placement.Shard {
	v := &at.value
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
		if led && isLevel(own, says) && at.mayHold(n.beat.Node) {
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
