package replication

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/carillon-io/carillon/job"
)

// checker verifies what must hold. In a world that loses nothing that counts, it judges each message at the
// moment when it is stored, by the rule alone, and so knows the log better than any node.
type checker struct {
	*world
	reader   tail
	log      []job.Position // the log by the rule, from LSN 1
	underWay job.Position   // stored, forgotten by NATS, and perhaps being written by its author
	unsure   uint64         // commits up to this LSN that were not acknowledged may be overtaken, see overtakes
	acked    map[uint64]job.Position
	acks     []ack
	author   map[uint64]string // node that began an epoch
	settled  time.Duration
	since    int   // commits acknowledged after the last fault
	noted    noted // what leaders have noted of the nodes
	looked   time.Duration
}

func newChecker(w *world) checker {
	return checker{world: w, reader: tail{cluster: testCluster, next: testNext}, acked: make(map[uint64]job.Position), author: make(map[uint64]string)}
}

// stored is called with each message in the order of the stream.
func (c *checker) stored(message []byte) {
	f, v, _ := c.reader.judge(message)
	if v != accepted && c.overtakes(&f) {
		f, v, _ = c.reader.judge(message)
	}
	switch {
	case v == accepted:
		if n := len(c.log); n > 0 && f.At.Epoch < c.log[n-1].Epoch {
			c.fail("epoch", "%v was accepted after %v", f.At, c.log[n-1])
		}
		c.log = append(c.log, f.At)
		c.noted.take(f.At.LSN, f.Payload)
		c.note("accepted", f.At.LSN, f.At.Epoch)
	case c.has(f.At):
		c.saw("stored again", f.At.LSN)
	default:
		c.saw("void", f.At.LSN, f.At.Epoch)
	}
}

func (c *checker) has(at job.Position) bool {
	return at.LSN > 0 && at.LSN <= uint64(len(c.log)) && c.log[at.LSN-1] == at
}

// acknowledged is called with each commit that was acknowledged to a caller.
func (c *checker) acknowledged(n *simNode, at job.Position) {
	c.note("acknowledged", uint64(n.index), at.LSN, at.Epoch)
	if c.healed {
		c.since++
	}
	if c.plan.mode == lossy {
		return
	}
	if other, ok := c.acked[at.LSN]; ok && other != at {
		c.fail("acknowledged", "%s has acknowledged %v, and %v was acknowledged before", n.name, at, other)
	}
	if at == c.underWay && at.LSN == uint64(len(c.log))+1 {
		c.log, c.reader.at = append(c.log, at), at
	}
	if c.plan.mode != regrowing && !c.has(at) {
		c.fail("acknowledged", "%s has acknowledged %v, which is no part of the log: that has %v there", n.name, at, c.at(at.LSN))
	}
	if by, ok := c.author[at.Epoch]; ok && by != n.name {
		c.fail("epoch", "%s acknowledges %v in the epoch of %s", n.name, at, by)
	}
	c.acked[at.LSN] = at
	c.acks = append(c.acks, ack{c.now, max(at.LSN, c.ackedBy(c.now))})
}

// began is called with each node that begins to lead. Who takes the first lease of all may have company, if the bucket is lost just then:
// a node that never saw that lease founds the cluster as well.
func (c *checker) began(n *simNode, epoch uint64) {
	if by, ok := c.author[epoch]; ok && c.plan.mode != lossy {
		c.fail("epoch", "%s begins epoch %d, which %s began", n.name, epoch, by)
	}
	c.author[epoch] = n.name
	if acked := c.ackedBy(c.now); c.plan.mode != lossy && c.plan.mode != regrowing && acked > n.local.Last().LSN {
		c.fail("lost", "%s begins to lead at %v, and commit %d was acknowledged", n.name, n.local.Last(), acked)
	}
	for _, o := range c.nodes {
		if o != n && reasonOf(n.reason) != "none" && o.alive && o.leading && o.node.role == RoleLeader && o.node.Trust() > 0 {
			c.fail("leaders", "%s begins to lead, while %s leads and is sure of its lease for %s", n.name, o.name, o.node.Trust())
		}
	}
}

func (c *checker) at(lsn uint64) string {
	if lsn == 0 || lsn > uint64(len(c.log)) {
		return "nothing"
	}
	return c.log[lsn-1].String()
}

// applied is called with each commit that a node applies to its store.
func (c *checker) applied(n *simNode, at job.Position) {
	if c.plan.mode != lossy && c.plan.mode != regrowing && !c.has(at) {
		c.fail("agreement", "%s applies %v, and the log has %s there", n.name, at, c.at(at.LSN))
	}
}

// joinsAnew is called with each node that is about to replace its data, and the reason. A node whose log has
// everything that was published lacks nothing: no node can have more.
func (c *checker) joinsAnew(n *simNode, cause error) {
	if c.plan.mode == lossy || c.plan.mode == regrowing || !errors.Is(cause, errBehind) || len(c.log) == 0 {
		return
	}
	if end := c.log[len(c.log)-1]; n.node.writer.at == end {
		c.fail("rejoin", "%s replaces its data at %v, where the log ends: %v", n.name, end, cause)
	}
}

// attendedMax is how long a follower may be away from its loop. It covers a place that is located anew with slow reads,
// and requests without an answer, but not the reading of a stream to an end that moves away.
const attendedMax = 30 * time.Second

// attended is called with the time for which a follower did nothing but check.
func (c *checker) attended(n *simNode, away time.Duration) {
	if away > attendedMax {
		c.fail("duties", "%s was away from its loop for %s", n.name, away)
	}
}

// taken is called with each change of the holder of the lease.
func (c *checker) taken(n *simNode, v leaseValue, from leaseState, reason string) {
	// A stream that is deleted and made anew looks like one that never had a message. (The product keeps the
	// first LSN of the new one in its metadata.)
	anew := c.plan.mode == lossy && reasonOf(reason) == "none"
	if r := reasonOf(reason); r != "released" && r != "own" && !anew {
		for _, other := range c.nodes {
			if other != n && other.mayLaunch() {
				c.fail("trust", "%s takes the lease (%s), and %s may launch for %s more", n.name, reason, other.name, other.node.Trust())
			}
		}
	}
	c.note("taken by "+n.name+" from "+from.value.Node+": "+reason, v.Term, from.value.Term, from.revision)
}

// mayLaunch reports whether a node trusts its lease and has something to launch. The leader of a cluster that has no
// commit yet has no jobs; if its bucket is made anew, a node that never saw the lease may take another one beside it.
func (n *simNode) mayLaunch() bool {
	return n.alive && n.launches && n.local.Last().LSN > 0 && n.node.Trust() > 0
}

// deposed is called when a renewal ends a leadership whose lease would last until an instant of the node's clock:
// another node has the lease, or has led since, or it is lost.
func (c *checker) deposed(n *simNode, ends time.Duration) {
	if slices.ContainsFunc(c.nodes, func(o *simNode) bool { return o.local.Last().Epoch > n.local.Last().Epoch }) {
		return // another node has led since
	}
	now, own := c.lease.current(), n.node.leadership.value
	if now.value.Node == own.Node && now.value.Term == own.Term && !now.value.Released && n.boot() < ends {
		c.fail("deposed", "%s gives up the lease of term %d, which is its own until %s", n.name, own.Term, ends)
	}
}

// trust: while a node launches, no other node may have taken its lease because it was not renewed, or because
// no process answered for it.
func (c *checker) trust() {
	for _, n := range c.nodes {
		if !n.alive || !n.launches || n.pausedUntil > c.now || n.node.Trust() <= 0 {
			continue
		}
		c.keys.overseer.trusts(n)
		now := c.lease.current()
		if now.value.Node == n.name || now.value.Node == "" || now.value.Released {
			continue
		}
		if r := reasonOf(now.reason); r == "expired" || r == "silent" || r == "still" {
			c.fail("trust", "%s launches for %s more, and %s has the lease since %s: %s", n.name, n.node.Trust(), now.value.Node, now.since, now.reason)
		}
	}
}

// level reports whether a node leads and commits, and all nodes have its commits.
func (c *checker) level() bool {
	if c.now < c.looked+100*time.Millisecond {
		return false
	}
	c.looked = c.now
	leader := c.leader()
	if leader == nil && c.plan.mode == lossy && c.now > c.settled+healTime/2 && c.noneMayLead() {
		c.saw("all have diverged")
		return true
	}
	if leader == nil || c.since < 5 || !c.readable(leader) {
		return false
	}
	for _, n := range c.nodes {
		at, ok := leader.local.Find(n.local.applied.LSN)
		if !n.alive || n.node.role == RoleJoining || n.local.applied.LSN+20 < leader.local.applied.LSN || !ok || at != n.local.applied {
			return false
		}
	}
	return true
}

// noneMayLead reports whether every node has applied commits that the stream does not continue, or lacks what the stream has
// lost, or what such a node has, so that none may lead. An operator has to choose one of them and make the stream anew.
func (c *checker) noneMayLead() bool {
	for _, n := range c.nodes {
		if !n.alive || n.node.role != RoleJoining && n.node.writer.lacks() == nil && n.node.outranked(n.boot()) == nil {
			return false
		}
	}
	return true
}

// leader returns the node that leads; nil if there is none, or more than one.
func (c *checker) leader() (leader *simNode) {
	for _, n := range c.nodes {
		if n.alive && n.leading && n.node.role == RoleLeader {
			if leader != nil {
				return nil
			}
			leader = n
		}
	}
	return leader
}

// finish compares the logs of all nodes at the end.
func (c *checker) finish() {
	leader := c.leader()
	if c.broken != "" || leader == nil {
		return
	}
	for _, n := range c.nodes {
		for lsn := n.local.log.base.LSN; lsn <= n.local.applied.LSN; lsn++ {
			at, _ := n.local.Find(lsn)
			if led, ok := leader.local.Find(lsn); ok && led != at {
				c.fail("agreement", "%s has %v, and the leader %s %v", n.name, at, leader.name, led)
			}
		}
	}
	c.readAll(leader)
	if c.plan.mode == lossy {
		return
	}
	for lsn, at := range c.acked {
		led, ok := leader.local.Find(lsn)
		if ok && led != at || lsn > leader.local.Last().LSN {
			c.fail("lost", "%v was acknowledged, and the leader has %v", at, led)
		}
	}
	c.world.counts["acknowledged"] += len(c.acked)
}

// readAll reads the stream by the rule. Where its front or a part of its end was lost, readAll continues with
// the leader's log; what it accepts must be the leader's. After a loss that no node could notice, another frame
// may stand in the place of a lost one for good: a node that reads it has to join anew, as these nodes did.
func (c *checker) readAll(leader *simNode) {
	reader := tail{cluster: testCluster, next: testNext}
	for _, m := range c.stream.messages {
		f, v, _ := reader.judge(m.data)
		at, ok := leader.local.Find(f.At.LSN)
		switch known := ok && at == f.At; {
		case v == accepted && !known && f.At.LSN > leader.local.log.base.LSN && f.At.LSN <= leader.local.applied.LSN:
			if c.plan.mode == lossy || c.plan.mode == regrowing {
				c.saw("the stream keeps another way")
				return
			}
			c.fail("split", "%s leads at %v and has %v where the stream goes on with %v", leader.name, leader.local.applied, at, f.At)
		case v == suspect && known && f.At.LSN > reader.at.LSN:
			reader.at = f.At
		}
	}
}

func (w *world) describe() string {
	var b strings.Builder
	for _, n := range w.nodes {
		fmt.Fprintf(&b, "\n  %s: ", n.name)
		if !n.alive {
			b.WriteString("dead")
			continue
		}
		fmt.Fprintf(&b, "%s, log %v, applied %d, reads at %v after %d", n.node.role, n.local.Last(), n.local.applied.LSN, n.node.writer.at, n.node.writer.seq)
	}
	now := w.lease.current()
	fmt.Fprintf(&b, "\n  the stream has %d to %d, the lease is %+v, revision %d", w.stream.before+1, w.stream.last(), now.value, now.revision)
	return b.String()
}
