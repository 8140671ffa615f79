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

// stateLag adds to a standby's reply how far it is behind.
func (s *Service) stateLag(m *nats.Msg) {
	if !s.opts.Standby || s.opts.Cluster == nil {
		return
	}
	if m.Header == nil {
		m.Header = nats.Header{}
	}
	c := s.opts.Cluster()
	m.Header.Set(nodeHeader, c.Node)
	m.Header.Set(lagHeader, strconv.FormatUint(c.Lag, 10))
	m.Header.Set(lagMSHeader, strconv.FormatFloat(c.LagMS, 'f', 0, 64))
}
