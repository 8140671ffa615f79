package replication

import (
	"time"

	"github.com/carillon-io/carillon/job"
)

// The roles of a node.
const (
	RoleLeader    = "leader"
	RoleStandby   = "standby"   // follows
	RoleCandidate = "candidate" // has the lease, and reads the log to its end
	RoleJoining   = "joining"   // receives a checkpoint
)

// Status is a reading of a node.
type Status struct {
	Node      string
	Cluster   string
	ClusterID ClusterID
	Role      string
	Local     bool   // commits count when they are durable at the leader
	Holder    string // of the lease, as far as this node knows
	Term      uint64
	Trust     time.Duration // how long the leader may launch without renewing its lease; 0 for who does not lead, or must not launch
	LagLSN    uint64        // commits that the leader has and this node has not
	Lag       time.Duration // how long ago the newest commit of this node was made, if it lacks any; 0 if none
	Voids     Voids
	Nodes     []Peer
}

// Peer is a node as the others see it.
type Peer struct {
	Node    string
	Role    string
	Epoch   uint64
	LSN     uint64
	Applied uint64
	LagLSN  uint64        // commits behind the leader
	Silent  time.Duration // since it was heard last
	Offset  time.Duration // of its wall clock against this node's, and the way of its word
}

// publishStatus notes what the node does, for whoever asks.
func (n *Node) publishStatus(role string) {
	n.reign.mu.Lock()
	term := n.reign.value.Term // what the watch tells of it may be late
	n.reign.mu.Unlock()
	n.mu.Lock()
	defer n.mu.Unlock()
	n.role = role
	n.lastHolder, n.lastTerm = n.rival.value.Node, n.rival.value.Term
	if n.term = 0; role == RoleLeader || role == RoleCandidate {
		n.term = term
	}
}

// holder returns who has the lease, for which term, as this node saw it.
func (n *Node) holder() (string, uint64) {
	n.mu.Lock()
	defer n.mu.Unlock()
	return n.lastHolder, n.lastTerm
}

// Status returns a reading of the node. It is safe for concurrent use, after Attach.
func (n *Node) Status() Status {
	now := n.opts.Boot()
	s := Status{
		Node: n.opts.Node, Cluster: n.opts.Cluster, ClusterID: n.id, Local: n.opts.Local,
		Trust: n.reign.left(now), Voids: n.writer.voids.read(),
	}
	n.mu.Lock()
	s.Role, s.Holder, s.Term = n.role, n.lastHolder, n.lastTerm
	n.mu.Unlock()
	leader, led := n.peers.leader(now)
	for _, p := range n.peers.all(now) {
		seen := Peer{Node: p.Node, Role: p.Role, Epoch: p.Epoch, LSN: p.LSN, Applied: p.Applied, Silent: now - p.seen, Offset: p.offset}
		if led && leader.LSN > p.LSN {
			seen.LagLSN = leader.LSN - p.LSN
		}
		s.Nodes = append(s.Nodes, seen)
	}
	if own := n.local.Applied(); led && leader.LSN > own.LSN && s.Role != RoleLeader {
		s.LagLSN = leader.LSN - own.LSN
		s.Lag = max(0, leader.Time.Time().Sub(n.peers.newest().Time()))
	}
	return s
}

// newest returns the author's time of the frame taken last.
func (p *peers) newest() job.Millis {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.behind
}
