package api

import (
	"strconv"

	"github.com/nats-io/nats.go"
)

// Headers of a standby's reply: the node, and its lag behind the leader in commits and in milliseconds.
const (
	nodeHeader  = "Carillon-Node"
	lagHeader   = "Carillon-Lag"
	lagMSHeader = "Carillon-Lag-Ms"
)

// stateLag adds the lag to the header of a standby's reply.
func (s *Service) stateLag(h nats.Header) {
	if !s.opts.Standby || s.opts.Cluster == nil {
		return
	}
	c := s.opts.Cluster()
	h.Set(nodeHeader, c.Node)
	h.Set(lagHeader, strconv.FormatUint(c.Lag, 10))
	h.Set(lagMSHeader, strconv.FormatFloat(c.LagMS, 'f', 0, 64))
}
