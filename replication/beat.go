package replication

import (
	"time"

	"github.com/carillon-io/carillon/instant"
	"github.com/carillon-io/carillon/job"
)

// beat is the state that each node publishes several times a second. It affects only the choice of a successor,
// how far the stream is kept, the wait after a start, and when a standby asks for a checkpoint. No decision
// that must be right depends on it. It is sent without an acknowledgement, so it may be lost, late, or of an
// older release.
type beat struct {
	Version int    `json:"version"`
	Node    string `json:"node"`
	Process string `json:"process,omitempty"` // process of the node
	Cluster string `json:"cluster_id"`
	Role    string `json:"role"`
	Epoch   uint64 `json:"epoch"`
	LSN     uint64 `json:"lsn"` // newest commit in its log
	// Confirmed is the LSN of the newest commit that this leader knows to be in the stream. The log may have
	// one more, which no other node can have yet. 0: the node does not lead, or runs an older release.
	Confirmed uint64         `json:"confirmed,omitempty"`
	Applied   uint64         `json:"applied"` // newest commit in its store
	Time      instant.Millis `json:"time"`    // reading of its wall clock
	Release   string         `json:"release"` // release of its program; "" from an older release
	Rows      byte           `json:"rows"`    // newest version of rows that it can read; 0 from an older release
	// Notes says that this leader asks its standbys to publish how far their logs are durable.
	Notes bool `json:"notes,omitempty"`
	// Unsure says that this leader may not launch at present: another node may have led since, and have commits that it lacks.
	Unsure bool `json:"unsure,omitempty"`
	// Heads says that the answers of this node name its newest commit, so that a follower need not judge by a beat, which may be
	// late, whether it has all commits.
	Heads bool `json:"heads,omitempty"`
}

const (
	beatVersion = 1
	// beatEvery is the time between two beats. A shorter time shows a change of a node sooner, and costs a message
	// to each of the others.
	beatEvery = 250 * time.Millisecond
	// beatFresh is the age from which a beat no longer describes the present. Four beats in a row may be lost before
	// a node that is alive counts as silent.
	beatFresh = 5 * beatEvery
	// beatKept is how long a silent node is remembered: for that time the stream is kept for it, and the leader
	// writes no row that it cannot read. A restart or an upgrade of a node fits into it.
	beatKept = 10 * time.Minute
	// peersMost bounds every table by node names, because any program that may publish on the subjects can name
	// nodes that do not exist.
	peersMost = 64
)

// reads returns the newest version of rows that a node can read.
func (b *beat) reads() byte {
	if b.Rows == 0 {
		return job.RowsVersionUnmarked
	}
	return b.Rows
}

// newBeat returns the beat for the node's present state.
func (n *Node) newBeat() beat {
	n.mu.Lock()
	role, doubts, sure := n.role, n.doubts, n.sure
	n.mu.Unlock()
	last := n.local.Last()
	if doubts && role != RoleLeader { // no node waits for what may be no part of the log
		last = sure
	}
	b := beat{
		Version: beatVersion, Node: n.opts.Node, Process: n.opts.Process, Cluster: n.id.String(), Role: role, Epoch: last.Epoch, LSN: last.LSN,
		Applied: min(n.local.Applied().LSN, last.LSN), Time: instant.Of(time.Now()), Release: n.opts.Release, Rows: n.opts.rows, Heads: true,
	}
	if n.discard.Load() { // what it has is of another log
		b.Epoch, b.LSN, b.Applied = 0, 0, 0
	}
	if role == RoleLeader {
		b.Confirmed = n.confirmed(last)
		b.Notes = !n.opts.Local && !n.opts.keepsAcked()
		b.Unsure = n.Trust() <= 0 // after Confirmed was read: until then no other node led
	}
	return b
}

// confirmed returns the LSN of the newest commit that this leader knows to be in the stream, at most that of the last one in its
// log. The stream may have a commit before the log does, since both are written at the same time.
func (n *Node) confirmed(last job.Position) uint64 {
	return min(last.LSN, n.writer.confirmed.Load())
}

// provenHead returns the newest commit of this leader that is in the stream, and the epoch of its log. It returns 0 if this node
// does not lead, or may have been replaced before it has read them.
func (n *Node) provenHead() (lsn, epoch uint64) {
	last := n.local.Last()
	lsn = n.confirmed(last)
	if n.Role() != RoleLeader || n.Trust() <= 0 {
		return 0, 0
	}
	return lsn, last.Epoch
}

// published returns the LSN up to which this leader's log is, or was, in the stream.
func (b *beat) published() uint64 {
	if b.Confirmed != 0 {
		return b.Confirmed
	}
	return b.LSN
}

// hears records the beat of a node about this member's shard, this node's included.
func (n *Node) hears(b beat) {
	if n.peers.heard(b, n.opts.Boot()) {
		n.tellReaders()
	}
	if b.Role == RoleLeader {
		n.noteWanted.Store(b.Notes)
	}
}

// hearsReader records what a node reads that has no copy of this member's shard: it may receive one, and may have had one.
func (n *Node) hearsReader(b beat) {
	if n.peers.heardReader(b, n.opts.Boot()) {
		n.tellReaders()
	}
}

// tellReaders lets a leader look at what it has to note of the nodes.
func (n *Node) tellReaders() {
	select {
	case n.newReaders <- struct{}{}:
	default: // there is an entry
	}
}
