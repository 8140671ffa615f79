package server

import (
	"context"
	"errors"
	"time"
)

// errJetStreamLost ends a member of a cluster whose NATS server goes on without JetStream: its peers would
// count it as present, but get no vote and no copy of the log from it.
var errJetStreamLost = errors.New("the embedded NATS server has given JetStream up, as it does when its disk is full or fails; " +
	"its log lines say why: make room in the data directory, or mend the disk, and start this node again")

// lostEvery is the time between two checks of JetStream.
const lostEvery = time.Second

// watchJetStream ends this server if it is a member of the cluster's NATS and has lost JetStream.
func (s *Server) watchJetStream(context.Context) error {
	if !s.opts.clusterEmbedded() {
		return nil
	}
	ctx, stop := context.WithCancel(context.Background())
	s.stopWatch = stop
	s.background.Go(func() {
		tick := time.NewTicker(lostEvery)
		defer tick.Stop()
		for s.bus.embedded.JetStreamEnabled() {
			select {
			case <-ctx.Done():
				return
			case <-tick.C:
			}
		}
		s.fail(errJetStreamLost)
	})
	return nil
}
