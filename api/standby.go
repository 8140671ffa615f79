package api

import (
	"strconv"

	"github.com/nats-io/nats.go"
)

// The headers of what a standby answers: who did, and how far it was behind the leader then, in commits
// and in milliseconds.
const (
	nodeHeader  = "Carillon-Node"
	lagHeader   = "Carillon-Lag"
	lagMSHeader = "Carillon-Lag-Ms"
)

// stateLag adds to the header of a standby's reply how far it is behind.
func (s *Service) stateLag(h nats.Header) {
	if !s.opts.Standby || s.opts.Cluster == nil {
		return
	}
	c := s.opts.Cluster()
	h.Set(nodeHeader, c.Node)
	h.Set(lagHeader, strconv.FormatUint(c.Lag, 10))
	h.Set(lagMSHeader, strconv.FormatFloat(c.LagMS, 'f', 0, 64))
}
