package replication

import "time"

// What a node knows of the commits that it lacks.

const (
	// levelWithin is the greatest age of its data with which a node counts as level: over slow links it never has the newest commit.
	// It is the lag up to which a node counts as ready.
	levelWithin = 5 * time.Second
	// behindAtFirst is the lag that a node assumes when it starts, so that it is not ready before it is level.
	behindAtFirst = levelWithin + time.Millisecond
)

// IsComplete reports whether this node has had all commits of the shard at some moment since it started, so that it knows by
// how much its data lag. Before that it may have no data, or those of long ago. Safe for concurrent use.
func (n *Node) IsComplete() bool { return n.complete.Load() }

// levelUntil records that this node had all commits at an instant of the boot clock: a follower those that a leader named which
// could launch, a leader all that count, because no other led. Safe for concurrent use.
func (n *Node) levelUntil(t time.Duration) {
	for {
		old := n.levelAt.Load()
		if int64(t) <= old || n.levelAt.CompareAndSwap(old, int64(t)) {
			return
		}
	}
}

// followsAnew begins the time for which this node follows after it led. It had all commits until its trust ended, see endTrust. How far
// it has come as a follower is of before that, so the stream has time again to bring what follows.
func (n *Node) followsAnew() { n.progress, n.stands = 0, false }

// endTrust ends the trust in the lease: this node may launch nothing more. A node that has the lease and has not begun its epoch may
// lack commits all the same.
func (n *Node) endTrust() {
	until := time.Duration(n.trusted.Swap(0))
	if !n.leadership.starting.Load() {
		n.levelUntil(min(until, n.opts.Boot()))
	}
}
