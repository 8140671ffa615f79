package replication

import (
	"sort"
	"time"
)

// Reads that may lag: a copy answers them once its node knows by how much it lags, and says so.

// askedEvery is about the time between two such reads at all copies.
const askedEvery = 500 * time.Millisecond

// ack is an acknowledgement: from that instant on a caller knows of all commits up to lsn.
type ack struct {
	at  time.Duration
	lsn uint64
}

// ackedBy returns the newest commit that was acknowledged at an instant or before it.
func (c *checker) ackedBy(t time.Duration) uint64 {
	i := sort.Search(len(c.acks), func(i int) bool { return c.acks[i].at > t })
	if i == 0 {
		return 0
	}
	return c.acks[i-1].lsn
}

// readCopies reads each copy of the shard, as reads that may lag do.
func (c *checker) readCopies() {
	if c.plan.mode == lossy || c.plan.mode == regrowing {
		return
	}
	for _, n := range c.nodes {
		if n.alive && !n.still() {
			c.reads(n)
		}
	}
}

// reads requires that a copy which answers has all that was acknowledged before the lag that its node states.
func (c *checker) reads(n *simNode) {
	if n.leading && n.node.role == RoleLeader {
		c.holds("a leader is read", n, max(0, -n.node.Trust()), 0)
		return
	}
	if !n.node.IsComplete() {
		c.counts["a copy does not know how far it lags"]++
		return
	}
	lag, older := n.node.Status().Lag, readOld
	if lag == 0 {
		older += beatFresh
	}
	c.holds("a copy is read", n, lag, older)
}

// readOld is by how much the clocks of two nodes may differ while a question is under way. A node that was level within beatFresh
// states no lag.
const readOld = time.Millisecond

// holds requires that a copy has all that was acknowledged before a lag.
func (c *checker) holds(what string, n *simNode, lag, older time.Duration) {
	c.counts[what]++
	lag += lag / 500 // clocks differ
	if acked := c.ackedBy(c.now - lag - older); n.local.applied.LSN < acked {
		c.fail("lag", "%s, %s, says that its copy lags by %s, and has %d commits of %d that were acknowledged then", n.name, n.node.role, lag, n.local.applied.LSN, acked)
	}
}
