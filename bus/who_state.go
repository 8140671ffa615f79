package bus

import (
	"sync"

	"github.com/carillon-io/carillon/replication"
)

// claimState is the progress of a server's claim to its prefix. The zero value is a server that is starting. Safe for
// concurrent use. It only moves forward: starting, then claimed, then joined. A start that withdraws ends with an
// error, so there is no way back.
type claimState struct {
	mu      sync.Mutex
	claimed bool
	earlier *who              // a server that started before this one, and was heard before the prefix was claimed
	node    *replication.Node // the node of a cluster, once it has met the cluster
}

// part returns the role of the server on its prefix, and the id of its cluster, if that is known.
func (s *claimState) part(clustered bool) (role, clusterID string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	switch {
	case !s.claimed:
		return roleStarting, ""
	case !clustered:
		return roleAlone, ""
	case s.node == nil:
		return replication.RoleJoining, ""
	}
	return s.node.Role(), s.node.ID().String()
}

// withdraw records that an earlier server is starting. A server that has claimed the prefix keeps it. It is called by
// the subscription's goroutine while the start may be in claim; the lock makes one of the two the first.
func (s *claimState) withdraw(earlier who) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if !s.claimed && s.earlier == nil {
		s.earlier = &earlier
	}
}

// claim claims the prefix, or returns the earlier server, unless that one does not matter. always is for a node beside
// whose cluster's leader this start changes nothing.
func (s *claimState) claim(always bool) (earlier *who) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.earlier != nil && !always {
		return s.earlier
	}
	s.claimed = true
	return nil
}

// joined records the node as which this server serves from now on.
func (s *claimState) joined(node *replication.Node) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.node = node
}
