package replication

import (
	"cmp"
	"slices"
	"time"
)

// heardNode is a node as its newest beat about all of its shards describes it.
type heardNode struct {
	beat  hostBeat
	seen  time.Duration // arrival of the beat, on the boot clock
	since time.Duration // since when its beats have come without a break
}

// note records the beat of a node about all of its shards, but for those that the node has ended since. While the table is full
// of nodes that are not silent, new names are ignored.
func (h *Host) note(b hostBeat) {
	now := h.opts.Boot()
	h.mu.Lock()
	defer h.mu.Unlock()
	there := h.stillThere(b, now)
	if len(there) == 0 && len(b.Shards) > 0 {
		return // the node has ended
	}
	b.Shards = there
	old, known := h.nodes[b.Node]
	if !known && len(h.nodes) >= peersMost && !h.makeRoom(now) {
		return
	}
	next := heardNode{beat: b, seen: now, since: now}
	if known && now-old.seen < beatFresh && old.beat.Process == b.Process {
		next.since = old.since
	}
	h.nodes[b.Node] = next
}

// makeRoom removes a node that is silent, and reports whether there was one. The caller holds the mutex.
func (h *Host) makeRoom(now time.Duration) bool {
	for name, n := range h.nodes {
		if now-n.seen >= beatFresh {
			delete(h.nodes, name)
			return true
		}
	}
	return false
}

// heard returns the nodes that were heard within beatKept, in the order of their names.
func (h *Host) heard() (list []heardNode) {
	now := h.opts.Boot()
	h.mu.Lock()
	defer h.mu.Unlock()
	for name, n := range h.nodes {
		if now-n.seen > beatKept {
			delete(h.nodes, name)
			continue
		}
		list = append(list, n)
	}
	slices.SortFunc(list, func(a, b heardNode) int { return cmp.Compare(a.beat.Node, b.beat.Node) })
	return list
}

// forgetNode removes a node that was taken out of the cluster.
func (h *Host) forgetNode(name string) {
	h.mu.Lock()
	delete(h.nodes, name)
	h.mu.Unlock()
	for _, m := range h.all() {
		if h.opts.Shards == 1 { // with several, no other node lists one that is silent and that no key names
			m.tellGone(name)
		}
		m.peers.forget(name)
	}
}

// startsWith notes the other nodes of the cluster, as shard 0 knew them when the process started.
func (h *Host) startsWith(nodes []string) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.atStart = slices.Clone(nodes)
}

// mates returns the other nodes of the cluster: those that shard 0 knew when the process started, unless that is longer ago than
// anybody waits for them; and with heard, those that were heard in the last minutes.
func (h *Host) mates(now time.Duration, heard bool) (names []string) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if now-h.began < 2*h.opts.Await {
		names = append(names, h.atStart...)
	}
	for name, n := range h.nodes {
		if heard && name != h.opts.Node && now-n.seen <= beatKept && !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	return names
}

// hasHeardAll reports whether this process has listened for so long that it has heard every node that is there.
func (h *Host) hasHeardAll(now time.Duration) bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	return now-h.began >= driveAfter
}

// hasCome reports whether a node is there, and has been for so long, since an instant at least, that its beats have named all
// shards of which it has data.
func (h *Host) hasCome(name string, since, now time.Duration) bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	n, known := h.nodes[name]
	return known && n.fresh(now) && now-max(n.since, since) >= beatFresh
}

// hasData reports whether a node said in its last beat that it has data of a shard.
func (h *Host) hasData(name string, shard uint32) bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	n, known := h.nodes[name]
	if !known {
		return false
	}
	_, has := n.of(shard)
	return has
}

// hears reports whether a node of several shards was heard just now.
func (h *Host) hears(node string, now time.Duration) bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	n, known := h.nodes[node]
	return known && n.fresh(now)
}

// lacks reports whether another node that was heard after an instant is silent now, and has not said that it ends.
func (h *Host) lacks(since, now time.Duration) bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	for name, n := range h.nodes {
		if name != h.opts.Node && n.seen >= since && !n.fresh(now) {
			return true
		}
	}
	return false
}

// fresh reports whether the node was heard just now.
func (n *heardNode) fresh(now time.Duration) bool { return now-n.seen < beatFresh }

// of returns what the node says about a shard.
func (n *heardNode) of(shard uint32) (shardBeat, bool) {
	for _, s := range n.beat.Shards {
		if s.Shard == shard {
			return s, true
		}
	}
	return shardBeat{}, false
}

// leaderOf returns the node that leads a shard by the beats that are fresh, and what it says of the shard; ok is false if
// none does. If several do, the one with the newest epoch counts.
func leaderOf(nodes []heardNode, shard uint32, now time.Duration) (node string, says shardBeat, ok bool) {
	for i := range nodes {
		s, has := nodes[i].of(shard)
		if has && nodes[i].fresh(now) && s.Role == RoleLeader && (!ok || s.Epoch >= says.Epoch) {
			node, says, ok = nodes[i].beat.Node, s, true
		}
	}
	return node, says, ok
}

// UsualElsewhere returns the usual rates of all shards but one, in runs a second and added up, as far as leaders have told them
// in beats that are fresh, and how many have. It is safe for concurrent use.
func (h *Host) UsualElsewhere(shard uint32) (rate float64, shards int) {
	nodes, now := h.heard(), h.opts.Boot()
	for other := range uint32(h.opts.Shards) {
		if other == shard {
			continue
		}
		if _, says, ok := leaderOf(nodes, other, now); ok {
			rate, shards = rate+float64(says.Usual), shards+1
		}
	}
	return rate, shards
}

// isLevel reports whether a node that follows could take a shard over from its leader.
func isLevel(follower, leader shardBeat) bool {
	return follower.Role == RoleStandby && follower.LSN+inSyncLSN >= leader.LSN
}
