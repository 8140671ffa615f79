package replication

import (
	"context"
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
	n.knows(next.Nodes)
}

// knows lets the loop of Run know which members are present.
func (n *Node) knows(members []string) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.known = members
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

// keepsAcked reports whether NATS is known to keep what it has acknowledged.
func (o Options) keepsAcked() bool { return o.Synced != nil && o.Synced() }
