package replication

import (
	"context"
	"testing"
	"time"

	"github.com/carillon-io/carillon/inbox"
	"github.com/carillon-io/carillon/job"
)

// The copies of commits on the disks of standbys, for which a leader waits where NATS is not known to sync what it acknowledges.

// tells carries a note of how far the log of this node is durable to the other nodes of the shard.
func (n *simNode) tells(note []byte) {
	for _, to := range n.world.nodes {
		if to != n && to.alive && n.meets(to.machine) && n.world.wayTo(n, to) == open {
			life := to.life
			n.world.after(n.world.way(n.world.plan.asks), func() { to.hearNote(note, life) })
		}
	}
}

// hearNote records a note at once, or when the process goes on if it stands still. A life that has ended hears nothing.
func (n *simNode) hearNote(note []byte, life int) {
	switch {
	case n.life != life || !n.alive:
	case n.still():
		n.awake(func() { n.hearNote(note, life) })
	default:
		n.node.hearDurable(&inbox.Request{Data: note})
	}
}

// awaitCopy is [Node.awaitCopy].
func (n *simNode) awaitCopy(ctx context.Context, at job.Position) {
	for end := n.boot() + copyTime; ctx.Err() == nil; n.world.sleep(n.world.between(0, copyPoll)) {
		waits, _ := n.node.waitsForCopy(at, end)
		if !waits {
			return
		}
		n.world.counts["waits for a copy"]++
	}
}

// NATS goes back, and the leader dies at the same moment, for ever. What it has acknowledged is on the disk of a standby, and one that
// has all of it leads.
func TestNATSGoesBackWithoutTheLeader(t *testing.T) {
	tell(t, []int{2, 3}, func(s *story) {
		leader, _ := s.led()
		s.live(s.between(0, time.Second))
		leader.die()
		s.fallBack(s.between(0, 5*time.Second))
		s.waitFor(45*time.Second, func() *simNode {
			if n := s.check.leader(); n != nil && n != leader && launching(n)() == "" {
				return n
			}
			return nil
		})
		s.live(5 * time.Second)
	})
}
