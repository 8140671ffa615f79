package server

import (
	"context"
	"log/slog"

	"github.com/carillon-io/carillon/apierr"
)

// With embedded NATS servers a node is a member of the cluster and of NATS. When an operator takes it out of the cluster, the process
// that leads shard 0 takes it out of NATS too: see ForgetMember of package bus.

// isLeftInNATS reports whether NATS counts a node that the cluster does not know, and that is gone. A witness is no node of the cluster:
// one that is connected is refused.
func (s *Server) isLeftInNATS(ctx context.Context, node string) (bool, error) {
	if s.bus.IsConnected(node) {
		return false, apierr.Errorf(apierr.Unavailable, "node", "the NATS server of node %s is connected, or was a moment ago: stop its process, and ask again", node)
	}
	return s.bus.IsMember(ctx, node)
}

// forgetInNATS lets NATS forget a node that was taken out of the cluster, and waits for a while until its replicas are on other servers.
// NATS servers of your own are no nodes.
func (s *Server) forgetInNATS(ctx context.Context, node string) (pending string, err error) {
	if s.opts.NATSURL != "" {
		return "", nil
	}
	if err := s.bus.ForgetMember(ctx, node); err != nil {
		return "", err
	}
	s.opts.Logger.Info("NATS does not count a node that was removed, and gives its replicas to other servers", slog.String("node", node))
	if lacks := s.bus.AwaitReplicas(ctx, node); lacks != "" {
		pending = "NATS has still to give its replicas to other servers, and until then the next death may stop the cluster: " + lacks
		s.opts.Logger.Warn(pending, slog.String("node", node))
	}
	return pending, nil
}
