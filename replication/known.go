package replication

import (
	"context"
	"fmt"
	"log/slog"
	"slices"
	"time"
)

// Known is what a node keeps about its cluster for its next start. The zero value means that it knows nothing.
// It protects a start after an outage of all servers, when NATS may have lost the end of the log and of the
// lease, and only the disks of the nodes show what existed.
type Known struct {
	// Nodes are the names of the other members that were present when this node last led, or last heard a
	// leader.
	Nodes []string
	// Term and Renewal are those of the lease at this node's last renewal, or a few seconds before it. 0: it
	// never renewed a lease.
	Term, Renewal uint64
}

func (k Known) same(o Known) bool {
	return slices.Equal(k.Nodes, o.Nodes) && k.Term == o.Term && k.Renewal == o.Renewal
}

// knownKeeper keeps [Known] up to date. It is for one goroutine at a time: that of the host, until the member has left.
type knownKeeper struct {
	kept    Known
	touched time.Duration // since when a leader is heard without a break, or this node leads; 0: neither is so
	written time.Duration // when Known was last written
	looked  time.Duration // when what is to be kept was last computed, 0 if that is to be done anew,
	version uint64        // of which peers,
	term    uint64        // and in which term of this node, 0 if it did not lead
}

// lookedEvery is the time between two looks at what is to be kept while no node comes or goes.
const lookedEvery = time.Second

// keptEvery is the time between two writes of the renewals of the lease. Each is a durable write of a small
// file. An older renewal is enough: ledLast accepts the lease if it is as new or newer.
const keptEvery = 5 * time.Second

// keepAll keeps what the members know about the cluster, until ctx ends. Each does it once more when it has left.
func (h *Host) keepAll(ctx context.Context) {
	for range ticks(ctx, beatEvery) {
		h.keeping.Lock()
		for _, m := range h.all() {
			m.keepKnownOnce()
		}
		h.keeping.Unlock()
	}
}

// keepKnownOnce writes down which members are present. It adds a member at once when it appears, and removes one
// that was silent for the length of a lease. While no leader is known, it removes none.
func (n *Node) keepKnownOnce() {
	a, now := &n.knownKeeper, n.opts.Boot()
	leads, ended := n.renewed()
	version := n.peers.version()
	if a.looked != 0 && version == a.version && leads.Term == a.term && ended.Term == 0 && now-a.looked < lookedEvery {
		return
	}
	if leader, led := n.peers.leader(now); leads.Term == 0 && (!led || leader.Node == n.opts.Node) {
		if a.touched = 0; ended.Term == 0 {
			return
		}
	} else if a.touched == 0 {
		a.touched = now
	}
	// The term and the renewal change only below. A node that follows keeps those of its own last leadership: as
	// soon as another node has led, they match no lease.
	next := Known{Nodes: n.members(now), Term: a.kept.Term, Renewal: a.kept.Renewal}
	switch soon := now-a.written < keptEvery && a.kept.Term == leads.Term; {
	case n.opts.keepsAcked(): // the next start will not wait
		next.Term, next.Renewal = 0, 0
	case leads.Term != 0 && !soon:
		next.Term, next.Renewal = leads.Term, leads.Renewal
	case ended.Term != 0:
		next.Term, next.Renewal = ended.Term, ended.Renewal
	}
	a.looked, a.version, a.term = now, version, leads.Term
	if next.same(a.kept) {
		return
	}
	if err := n.local.Keep(next); err != nil {
		n.warn("which members the cluster has was not kept; trying again", err)
		a.looked = 0
		return
	}
	a.kept, a.written = next, now
}

// renewed returns the lease as this node last renewed it, while it holds it, and the lease as this node
// released it.
func (n *Node) renewed() (holds, released leaseValue) {
	r := &n.leadership
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.value.Released {
		return holds, r.value
	}
	if r.tenure.left(n.opts.Boot()) > 0 {
		return r.value, released
	}
	return holds, released
}

// members returns the names of the other members that are present. A silent one counts until it was silent for
// the length of a lease, unless it has said that it ends: then it does not lead before it is started again. At
// most peersMost are kept.
func (n *Node) members(now time.Duration) []string {
	a := &n.knownKeeper
	var there []string
	for _, p := range n.peers.all(now) {
		if p.Node != n.opts.Node && now-p.seen <= n.opts.Lease {
			there = append(there, p.Node)
		}
	}
	for _, name := range a.kept.Nodes {
		if !slices.Contains(there, name) && !n.peers.hasLeft(name) && (a.touched == 0 || now-a.touched <= n.opts.Lease) && len(there) < peersMost {
			there = append(there, name)
		}
	}
	slices.Sort(there)
	return there
}

// awaiting is the state of a node that has started and waits, before it leads for the first time, for a member
// that may have more of the log, because NATS may have lost the log's end.
type awaiting struct {
	// the wait is over, or was never needed
	over  bool
	since time.Duration
	said  time.Duration
	known Known // as it was when the node started
	fresh bool  // it had no data of a shard that not every node has: it may have given a copy up that is newer than what NATS has
}

// await begins the wait, unless there is no reason for one.
func (n *Node) await() {
	n.knownKeeper.kept = n.local.Known()
	n.awaiting = awaiting{
		over:  n.isTold(),
		since: n.opts.Boot(), known: n.knownKeeper.kept, fresh: n.opts.Shard != everywhere && n.local.Last().LSN == 0,
	}
	if n.host != nil && n.opts.Shard == everywhere {
		n.host.startsWith(n.knownKeeper.kept.Nodes)
	}
}

// keepsAcked reports whether NATS is known to keep what it has acknowledged.
func (o Options) keepsAcked() bool { return o.Synced != nil && o.Synced() }

// awaited returns the members for which this node waits before it leads, and for how long at most; none if it
// does not wait. The wait ends for good once this node has heard a leader or has led. A lease that is as this
// node renewed it last proves nothing: another node may have led since, and NATS may have lost that.
func (n *Node) awaited(now time.Duration) (nodes []string, left time.Duration) {
	a := &n.awaiting
	if a.over {
		return nil, 0
	}
	leader, led := n.peers.leader(now)
	hasAll := !a.fresh || !n.lacksOf(leader) || n.complete.Load() // a fresh copy that was level once has all that a leader had
	if a.over = n.opts.keepsAcked() || led && hasAll; a.over || led {
		return nil, 0
	}
	missing, longer := n.others(now)
	switch waited := now - a.since; {
	case len(a.known.Nodes) == 0 && len(n.mates(now)) == 0: // the first start
		return nil, 0
	case a.fresh && n.local.Last().LSN == 0: // no node has led the shard yet
		return nil, 0
	case len(missing) > 0 && waited < n.opts.Await:
		return missing, n.opts.Await - waited
	// A node that is there and has more is to lead. It gets the same time again, because it may itself be waiting.
	case len(longer) > 0 && waited < 2*n.opts.Await:
		return longer, 2*n.opts.Await - waited
	}
	return nil, 0
}

// isTold reports whether an operator has said that this node may lead with what it has: of the shard whose stream it has made
// anew, and of no other that it holds.
func (n *Node) isTold() bool { return n.opts.LeadAlone || n.recreates || n.opts.Found }

// hasAll reports whether this node has the whole log although the stream does not show that: it held the lease
// last, or all members that it knows are present and none has more commits.
func (n *Node) hasAll(now time.Duration) bool {
	if n.isTold() {
		return true
	}
	lease := n.challenger.value
	named := n.opts.keepsAcked() && n.local.Last().LSN > 0 && n.challenger.revision != 0 && lease.Node == n.opts.Node && lease.To == ""
	if named || n.ledLast() { // a lease whose newest state NATS may have lost proves nothing alone
		return true
	}
	missing, longer := n.others(now)
	return len(n.awaiting.known.Nodes) > 0 && len(missing) == 0 && len(longer) == 0
}

// mates returns the other nodes of the cluster, for a shard that not all of them have. NATS may have lost that the shard was moved,
// so any of them may hold it.
func (n *Node) mates(now time.Duration) []string {
	if n.host == nil || n.opts.Shard == everywhere {
		return nil
	}
	return n.host.mates(now, n.awaiting.fresh)
}

// lacksOf reports whether another node says that it has commits which this one does not have.
func (n *Node) lacksOf(p peer) bool {
	own := n.local.Last()
	return p.Node != n.opts.Node && (p.Epoch > own.Epoch || p.Epoch == own.Epoch && p.LSN > own.LSN)
}

// isOutrun reports whether another node says that it leads, with commits that this one lacks, although the lease is not that node's:
// NATS has come back with an older one. The leader publishes again what the stream has lost.
func (n *Node) isOutrun(now time.Duration) bool {
	leader, led := n.peers.leader(now)
	return led && leader.Node != n.challenger.value.Node && n.lacksOf(leader)
}

// isYoung reports whether this node began without data of the shard, was not level since, and hears a node that has more. It waits
// for that node even if the lease of that one is over: the stream may have lost what this node lacks. So it does for no longer
// than it would if no node led.
func (n *Node) isYoung(now time.Duration) bool {
	a := &n.awaiting
	if a.over || !a.fresh || n.complete.Load() || now-a.since >= 2*n.opts.Await {
		return false
	}
	_, longer := n.others(now)
	return len(longer) > 0
}

// above is a node that was heard with more of the log than this one, and could not lead with it.
type above struct {
	peer
	heard time.Duration // when it was last so
}

// outranked says that a node which is there has more of the log than this one, and cannot lead with it: the stream does not
// lead to what that node has, so NATS has lost a part of the log. With less than that no node leads, for however long it waits,
// unless an operator says so: what the other has was acknowledged. If that node ends, as for the operator to start it again,
// this one waits for it as it does for a member after a start.
func (n *Node) outranked(now time.Duration) error {
	for _, p := range n.peers.all(now) {
		if now-p.seen < beatFresh && p.Role == RoleJoining && n.lacksOf(p) {
			n.above = above{p, now}
		}
	}
	p := &n.above
	if n.isTold() || p.Node == "" || now-p.heard >= n.opts.Await || !n.lacksOf(p.peer) {
		return nil
	}
	return fmt.Errorf("%s has commit %d, this node has %d, and NATS has lost a part of the log between them; "+
		"stop %s, remove the stream %s from NATS, and start %s with --recreate-stream; to go on without those commits, start this node with --lead-alone",
		p.Node, p.LSN, n.local.Last().LSN, p.Node, StreamName(n.opts.Prefix, n.opts.Shard), p.Node)
}

// others returns the members known at the start that are not present, and the nodes that have more of the log
// than this one.
func (n *Node) others(now time.Duration) (missing, longer []string) {
	for _, name := range n.awaiting.known.Nodes {
		if _, there := n.peers.fresh(name, now); !there && !n.hasNothing(name, now) {
			missing = append(missing, name)
		}
	}
	for _, name := range n.mates(now) {
		if !slices.Contains(n.awaiting.known.Nodes, name) && !n.host.hasCome(name, n.awaiting.since, now) {
			missing = append(missing, name)
		}
	}
	for _, p := range n.peers.all(now) {
		if now-p.seen < beatFresh && n.lacksOf(p) {
			longer = append(longer, p.Node)
		}
	}
	return missing, longer
}

// hasNothing reports whether a node is there, and has no data of this shard, as after it has given its copy up.
func (n *Node) hasNothing(name string, now time.Duration) bool {
	return n.host != nil && n.opts.Shard != everywhere && n.host.hasCome(name, n.awaiting.since, now) && !n.host.hasData(name, n.opts.Shard)
}

// ledLast reports whether the lease is as this node last renewed it, or newer, so that no other node has held
// it since.
func (n *Node) ledLast() bool {
	v, k := n.challenger.value, n.awaiting.known
	return n.challenger.revision != 0 && v.Node == n.opts.Node && k.Term != 0 && v.Term == k.Term && v.Renewal >= k.Renewal && v.To == ""
}

// awaitSayEvery is the time between two log lines that say that a node waits.
const awaitSayEvery = 5 * time.Second

// mustWait reports whether this node waits for other members, and logs that from time to time.
func (n *Node) mustWait(now time.Duration) bool {
	nodes, left := n.awaited(now)
	n.mu.Lock()
	n.awaits, n.awaitsLeft = nodes, left
	n.mu.Unlock()
	if len(nodes) == 0 {
		return false
	}
	if a := &n.awaiting; now-a.since >= beatFresh && (a.said == 0 || now-a.said >= awaitSayEvery) { // by then a leader has been heard
		a.said = now
		n.opts.Logger.Warn("no node leads, and others may have more of the log than this one: it waits for them; start them, or this one with --lead-alone",
			slog.Any("nodes", nodes), slog.Duration("at_most", left.Round(time.Second)))
	}
	return true
}

// fresh returns a node if it was heard just now.
func (p *peers) fresh(node string, now time.Duration) (peer, bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	b, known := p.byName[node]
	return b, known && now-b.seen < beatFresh
}
