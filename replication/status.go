package replication

import "time"

// The roles of a node. Beats and the API carry them as these words. A node that is a candidate or joins neither
// serves changes nor counts as a standby to hand over to.
const (
	RoleLeader    = "leader"
	RoleStandby   = "standby"   // follows
	RoleCandidate = "candidate" // has the lease, and reads the log to its end before it leads
	RoleJoining   = "joining"   // receives a checkpoint
)

// roleAtFirst returns the role of a node that has not found its place in the stream yet. It may need a checkpoint. Of several
// shards, whose copies go when others are level, it counts neither as level nor as a standby to hand over to, however few commits
// the leader has. With one shard it is a standby, as in releases that know no other number: nothing goes there.
func roleAtFirst(shards int) string {
	if shards > 1 {
		return RoleJoining
	}
	return RoleStandby
}

// Status describes a node at one instant, as far as the node itself knows. It is assembled from several
// sources, one after the other, so its parts may be some milliseconds apart.
type Status struct {
	Node      string
	Cluster   string
	ClusterID ClusterID
	Role      string
	Local     bool   // commits count when they are durable at the leader
	Holder    string // holder of the lease as this node last saw it; "" if it saw none
	Term      uint64
	Trust     time.Duration // how long this leader may launch without another renewal of its lease; 0 for a node that does not lead or must not launch
	LagLSN    uint64        // commits that the leader has and this node lacks
	Lag       time.Duration // how long this node has lacked commits or has heard no leader; 0 if it is level. Of a leader: how long a commit has waited for the stream, if at least waitsLong
	Voids     Voids
	// Awaits are the members for which this node waits before it leads, for at most AwaitsLeft; see
	// [Options.Await].
	Awaits     []string
	AwaitsLeft time.Duration
	Leader     string // the node that leads according to the beats of the last moments; "" if none is heard
	Barred     error  // why this node must not lead, with what an operator does about it; nil if nothing bars it, or if a node leads
	Nodes      []Peer
	Flaws      []Flaw // of the stream of the log and of the bucket of the leases, when they were looked at last
}

// Peer describes a node as its newest beat shows it to this node. Nothing in it is confirmed by the node itself
// at the time of reading.
type Peer struct {
	Node    string
	Role    string
	Epoch   uint64
	LSN     uint64
	Applied uint64
	LagLSN  uint64        // commits behind the leader
	Silent  time.Duration // time since its last beat
	Offset  time.Duration // its wall clock minus this node's, less the delay of the beat
	Release string        // release of its program; "" if its beat names none
	Rows    byte          // newest version of rows that it can read
}

// publishStatus stores the role and the lease of this node where other goroutines can read them. The term that
// it publishes is what this node states to others that ask for the holder; it is 0 unless the node leads or is
// about to, so that a node that has stopped never gets promises.
func (n *Node) publishStatus(role string) {
	n.leadership.mu.Lock()
	term := n.leadership.value.Term // the watch may show this term later
	n.leadership.mu.Unlock()
	n.mu.Lock()
	defer n.mu.Unlock()
	if role == RoleLeader && n.role != role {
		n.peers.leads(n.opts.Boot())
	}
	if role != RoleLeader { // who leads has none, and the engine's goroutine owns the writer
		n.sure, n.doubts = n.writer.doubted()
	}
	n.role = role
	n.lastHolder, n.lastProcess, n.lastTerm = n.challenger.value.Node, n.challenger.value.Process, n.challenger.value.Term
	if n.term = 0; role == RoleLeader || role == RoleCandidate {
		n.term = term
	}
}

// holder returns the holder of the lease, its process and its term, as this node last saw them. The questions
// to the holder use this copy, because the challenger belongs to the loop of Run.
func (n *Node) holder() (node, process string, term uint64) {
	n.mu.Lock()
	defer n.mu.Unlock()
	return n.lastHolder, n.lastProcess, n.lastTerm
}

// Role returns the role of the node. It is safe for concurrent use.
func (n *Node) Role() string {
	n.mu.Lock()
	defer n.mu.Unlock()
	return n.role
}

// Status returns the present state of the node. It is safe for concurrent use, after Attach.
func (n *Node) Status() Status {
	now := n.opts.Boot()
	s := Status{
		Node: n.opts.Node, Cluster: n.opts.Cluster, ClusterID: n.id, Local: n.opts.Local,
		Trust: n.trustLeft(now), Voids: n.writer.voids.read(), Flaws: n.flaws(),
	}
	n.mu.Lock()
	s.Role, s.Holder, s.Term = n.role, n.lastHolder, n.lastTerm
	s.Awaits, s.AwaitsLeft, s.Barred = n.awaits, n.awaitsLeft, n.barred
	n.mu.Unlock()
	leader, led := n.peers.leader(now)
	if led {
		s.Leader, s.Barred = leader.Node, nil
	}
	for _, p := range n.peers.all(now) {
		seen := Peer{Node: p.Node, Role: p.Role, Epoch: p.Epoch, LSN: p.LSN, Applied: p.Applied, Silent: now - p.seen, Offset: p.offset, Release: p.Release, Rows: p.reads()}
		if led && leader.LSN > p.LSN {
			seen.LagLSN = leader.LSN - p.LSN
		}
		s.Nodes = append(s.Nodes, seen)
	}
	if s.Role == RoleLeader {
		if waited := n.waits(now); waited >= waitsLong {
			s.Lag = waited
		}
		return s
	}
	own := n.local.Applied().LSN
	if led && leader.LSN > own {
		s.LagLSN = leader.LSN - own
	}
	if lag := now - time.Duration(n.levelAt.Load()); !led || leader.LSN > own || lag > beatFresh {
		s.Lag = max(0, lag)
	}
	return s
}

// waitsLong is the wait of a commit for the stream from which the status shows it. It is far above the time of
// a commit and below an election, so that a healthy leader shows 0.
const waitsLong = 2 * time.Second

// trustLeft returns how long the lease would last without another renewal; 0 if nothing may be launched now. It
// shows the end of the lease and not that of the promises, which with heirs is never more than some hundred
// milliseconds ahead.
func (n *Node) trustLeft(now time.Duration) time.Duration {
	if n.Trust() <= 0 {
		return 0
	}
	return n.leadership.left(now)
}
