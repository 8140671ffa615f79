package replication

import "time"

// What a leadership is told by the lease that it shares with the other shards of its node, see hostLease.

// renewedAt records that a write which began at an instant has renewed the lease of this member.
func (n *Node) renewedAt(begun time.Duration, renewal uint64, g shardGrant) {
	r := &n.leadership
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.tenure.lease == 0 || r.value.Term != g.Term {
		return // the leadership has ended meanwhile
	}
	r.value.Renewal, r.value.Heirs = renewal, g.Heirs
	n.hasRenewed(begun, g.Heirs)
}

// loses ends the leadership of a member, because another node has its lease, or may have.
func (n *Node) loses(l leaseSeen) {
	n.opts.Logger.Warn("another node has the lease; this one follows")
	n.distrust()
	if l.revision != 0 {
		n.foundLease(l)
	}
	n.leadership.end()
}
