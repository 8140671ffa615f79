package replication

import (
	"fmt"
	"log/slog"
	"slices"
	"time"
)

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
	n.knows(n.knownKeeper.kept.Nodes)
	n.awaiting = awaiting{
		over:  n.isTold(),
		since: n.opts.Boot(), known: n.knownKeeper.kept, fresh: n.opts.Shard != everywhere && n.local.Last().LSN == 0,
	}
	if n.host != nil && n.opts.Shard == everywhere {
		n.host.startsWith(n.knownKeeper.kept.Nodes)
	}
}

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
	n.mu.Lock()
	known := n.known
	n.mu.Unlock()
	missing, longer := n.othersOf(known, now)
	return len(known) > 0 && len(missing) == 0 && len(longer) == 0
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

// isOutdone reports whether a node is heard that has more of this node's epoch than this one, although this one has read the stream to
// its end: NATS has lost that, and the other one is to lead and publish it again. It is waited for no longer than after a start, since it
// may be unable to. Where NATS keeps what it acknowledges, what the other has beyond the stream was never acknowledged.
func (n *Node) isOutdone(now time.Duration) bool {
	has, more := n.peers.longest(n.local.Last(), now)
	if !more || n.isTold() || n.opts.keepsAcked() {
		n.outdone = 0
		return false
	}
	if n.outdone == 0 {
		n.outdone = now
	}
	n.warn("this node waits for another one to lead", fmt.Errorf("%s has commit %d, this node has %d, and NATS has lost those between them", has.Node, has.published(), n.local.Last().LSN))
	return now-n.outdone < 2*n.opts.Await
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
	return n.othersOf(n.awaiting.known.Nodes, now)
}

// othersOf is others with the members that are known.
func (n *Node) othersOf(known []string, now time.Duration) (missing, longer []string) {
	for _, name := range known {
		if _, there := n.peers.fresh(name, now); !there && !n.hasNothing(name, now) {
			missing = append(missing, name)
		}
	}
	for _, name := range n.mates(now) {
		if !slices.Contains(known, name) && !n.host.hasCome(name, n.awaiting.since, now) {
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
