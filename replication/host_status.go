package replication

import (
	"cmp"
	"slices"
	"time"
)

// ShardView is what a process has heard of a shard, of which it need not have a copy.
type ShardView struct {
	Leader string // by the beats of the last moments; "" if none is heard
	Jobs   int    // as the leader says; 0 without one
	// Replicas are the nodes that hold or receive a copy, in the order of their names. Of one that was never heard Role is
	// "", and Silent is the time since this process began to listen.
	Replicas []Peer
	Place    Place
}

// NodeView is what a process has heard of a node for all of its shards.
type NodeView struct {
	Node   string
	Weight uint32
	Zone   string
	Drains bool // it is to hold nothing
	Copies int  // that each shard is to have, by that node's options
	Silent time.Duration
}

// View returns what this process has heard of each of several shards, by their numbers, and of each node.
func (h *Host) View() (shards []ShardView, nodes []NodeView) {
	heard, now := h.present()
	for n := range uint32(h.opts.Shards) {
		shards = append(shards, h.viewOf(n, heard, now))
	}
	for _, n := range heard {
		nodes = append(nodes, NodeView{n.beat.Node, n.beat.Weight, n.beat.Zone, h.places.draining(n.beat.Node).value.Drains, n.beat.Copies, now - n.seen})
	}
	return shards, nodes
}

// present returns the nodes that were heard, and when that was asked, without those that are silent and that no key names: an
// operator has taken them out.
func (h *Host) present() (nodes []heardNode, now time.Duration) {
	now = h.opts.Boot()
	named := h.places.named()
	return slices.DeleteFunc(h.heard(), func(n heardNode) bool { return !n.fresh(now) && !slices.Contains(named, n.beat.Node) }), now
}

func (h *Host) viewOf(shard uint32, heard []heardNode, now time.Duration) ShardView {
	v := ShardView{Place: h.PlaceOf(shard)}
	leader, says, led := leaderOf(heard, shard, now)
	if led {
		v.Leader, v.Jobs = leader, says.Jobs
	}
	for i := range heard {
		n := &heard[i]
		own, has := n.of(shard)
		if !has {
			continue
		}
		p := Peer{Node: n.beat.Node, Role: own.Role, Epoch: own.Epoch, LSN: own.LSN, Applied: own.Applied, Silent: now - n.seen, Release: n.beat.Release, Rows: n.beat.Rows}
		if led && says.LSN > own.LSN {
			p.LagLSN = says.LSN - own.LSN
		}
		v.Replicas = append(v.Replicas, p)
	}
	for _, name := range v.Place.Copies {
		if !slices.ContainsFunc(v.Replicas, func(p Peer) bool { return p.Node == name }) {
			v.Replicas = append(v.Replicas, Peer{Node: name, Silent: now - h.began})
		}
	}
	slices.SortFunc(v.Replicas, func(a, b Peer) int { return cmp.Compare(a.Node, b.Node) })
	return v
}
