package replication

import (
	"cmp"
	"context"
	"log/slog"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/carillon-io/carillon/job"
)

// The leaderships of several shards are spread over the nodes: a node that leads at least two more than another one hands
// one over to it, if that node is level in the shard. Fewer than two would only be passed back and forth. Nothing of this
// must be right: each step is a hand-over like one that an operator asks for.

// spreadAll hands leaderships over until ctx ends, one at a time, so that the launches of one shard at a time pause for a
// hand-over.
func (h *Host) spreadAll(ctx context.Context) {
	for range ticks(ctx, h.opts.SpreadEvery) {
		m, to := h.spread()
		if m == nil {
			continue
		}
		h.opts.Logger.Info("a shard is handed over, so that each node leads its share", slog.Uint64(job.LogShard, uint64(m.opts.Shard)), slog.String("to", to))
		select {
		case m.wanted <- handover{to: to, reply: func(_ string, err error) {
			if err != nil {
				h.warn("a shard was not handed over; trying again", err)
			}
		}}:
		default: // another hand-over of it is under way
		}
	}
}

// spread returns the member whose shard is to be handed over, and the node that is to lead it; nil if there is none. While
// a node that was heard is silent, nothing is spread: it may be back in a moment, and those that are there have enough to
// do.
func (h *Host) spread() (m *hosted, to string) {
	members := h.all()
	views := make([]shardView, 0, len(members))
	for _, m := range members {
		if m.peers.misses(h.opts.Boot()) {
			return nil, ""
		}
		views = append(views, m.view())
	}
	i, to := spread(h.opts.Node, views)
	if i < 0 {
		return nil, ""
	}
	return members[i], to
}

// shardView is a shard as a node sees it.
type shardView struct {
	leader string   // "": none, or unknown
	level  []string // standbys to which its leader could hand it over, if this node leads
}

func (n *Node) view() (v shardView) {
	if leader, ok := n.peers.leader(n.opts.Boot()); ok {
		v.leader = leader.Node
	}
	if v.leader == n.opts.Node {
		for _, p := range n.successors("") {
			v.level = append(v.level, p.Node)
		}
	}
	return v
}

// spread returns the index of a shard that the node own leads and should not, and the node that is to lead it: the one
// that leads the fewest. The index is -1 if there is none.
func spread(own string, shards []shardView) (index int, to string) {
	leads := make(map[string]int)
	for _, s := range shards {
		for _, name := range s.level {
			leads[name] += 0
		}
		if s.leader == "" {
			return -1, "" // it is being taken over
		}
		leads[s.leader]++
	}
	byLeads := func(a, b string) int { return cmp.Or(leads[a]-leads[b], strings.Compare(a, b)) }
	for _, name := range slices.SortedFunc(maps.Keys(leads), byLeads) {
		if leads[own]-leads[name] < 2 {
			return -1, ""
		}
		for i, s := range shards {
			if s.leader == own && slices.Contains(s.level, name) {
				return i, name
			}
		}
	}
	return -1, ""
}

// misses reports whether a node that was heard is silent, and has not said that it ends.
func (p *peers) misses(now time.Duration) bool {
	for _, one := range p.all(now) {
		if now-one.seen >= beatFresh {
			return true
		}
	}
	return false
}
