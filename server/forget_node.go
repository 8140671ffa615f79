package server

import (
	"context"
	"log/slog"
	"time"

	"github.com/carillon-io/carillon/apierr"
)

// With embedded NATS servers a node is a member of the cluster and of NATS. When an operator takes it out of the cluster, the process
// that leads shard 0 takes it out of NATS too: see ForgetMember of package bus.

const (
	// forgetsMax bounds the nodes that wait to be forgotten.
	forgetsMax = 16
	// forgetTimeMax is how long NATS is asked for one: it may be without a leader, and the connection to the node may be about to end.
	forgetTimeMax = 2 * time.Minute
	// forgetPause is the pause between two attempts.
	forgetPause = 2 * time.Second
)

// forgetNodes begins to let NATS forget the nodes that operators take out of the cluster.
func (s *Server) forgetNodes() {
	if !s.opts.clustered() {
		return
	}
	ctx, stop := context.WithCancel(context.Background())
	s.stopForgets = stop
	s.background.Go(func() {
		for {
			select {
			case <-ctx.Done():
				return
			case node := <-s.forgets:
				s.forgetNode(ctx, node)
			}
		}
	})
}

// isLeftInNATS reports whether NATS counts a node that the cluster does not know, and that is gone. A witness is no node of the cluster:
// one that is connected is refused.
func (s *Server) isLeftInNATS(ctx context.Context, node string) (bool, error) {
	if s.bus.IsConnected(node) {
		return false, apierr.Errorf(apierr.Unavailable, "node", "the NATS server of node %s is connected, or was a moment ago: stop its process, and ask again", node)
	}
	return s.bus.IsMember(ctx, node)
}

// nodeRemoved notes that a node was taken out of the cluster. It does not wait. NATS servers of your own are no nodes.
func (s *Server) nodeRemoved(node string) {
	if s.opts.NATSURL != "" {
		return
	}
	select {
	case s.forgets <- node:
	default:
		s.opts.Logger.Warn("NATS is not told to forget a node that was removed: too many wait for that", slog.String("node", node))
	}
}

// forgetNode asks NATS until it has forgotten a node, or forgetTimeMax is over.
func (s *Server) forgetNode(ctx context.Context, node string) {
	ctx, cancel := context.WithTimeout(ctx, forgetTimeMax)
	defer cancel()
	for {
		err := s.bus.ForgetMember(ctx, node)
		if err == nil {
			s.opts.Logger.Info("NATS does not count a node that was removed, and gives its replicas to other servers", slog.String("node", node))
			return
		}
		select {
		case <-ctx.Done():
			s.opts.Logger.Warn("NATS still counts a node that was removed, as a missing vote, and keeps its replicas there: 'nats stream cluster peer-remove STREAM NODE' gives each to another server", slog.String("node", node), slog.Any("error", err))
			return
		case <-time.After(forgetPause):
		}
	}
}
