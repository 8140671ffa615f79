package server

import (
	"context"
	"log/slog"
	"time"

	"github.com/nats-io/nats.go"

	"github.com/carillon-io/carillon/api"
)

// front answers the requests of callers for all shards of a cluster; *api.Service is one.
type front interface {
	Executor() *api.Executor
	ReviewAccounts() error
	Close(ctx context.Context) error
}

// ledShards are the shards of the cluster, as this process sees them.
type ledShards struct{ *Server }

// Count returns the number of shards.
func (l ledShards) Count() int { return l.shards }

// Leader returns the executor of the service with which this process leads a shard; nil if it does not lead it.
func (l ledShards) Leader(shard uint32) *api.Executor {
	m := l.memberOf(shard)
	if m == nil {
		return nil
	}
	return m.shard.LeaderService().Executor()
}

// LedBy returns the process that is heard to lead a shard, and whether the last one that did has become silent.
func (l ledShards) LedBy(shard uint32) (process string, isSilent bool) {
	return l.cluster.Replication.Host.LedBy(shard)
}

// Hears reports whether a process that has a shard was heard just now.
func (l ledShards) Hears(shard uint32, process string) bool {
	return l.cluster.Replication.Host.Hears(shard, process)
}

// ClockOf returns what the clock of a process shows now, at least, and until when by that clock it is heard.
func (l ledShards) ClockOf(shard uint32, process string) (now, until time.Time) {
	return l.cluster.Replication.Host.ClockOf(shard, process)
}

// MayHang reports whether a process that has led a shard is not heard any more.
func (l ledShards) MayHang(shard uint32) bool { return l.cluster.Replication.Host.MayHang(shard) }

// FollowedBy returns the processes that are heard to follow a shard.
func (l ledShards) FollowedBy(shard uint32) []string {
	return l.cluster.Replication.Host.FollowedBy(shard)
}

// Copy returns the executor of the service of this process for a shard; nil if it has no copy of the shard.
func (l ledShards) Copy(shard uint32) *api.Executor {
	m := l.memberOf(shard)
	if m == nil {
		return nil
	}
	return m.shard.Service().Executor()
}

// newRouter makes the front of several shards.
func newRouter(nc *nats.Conn, all ledShards, opts api.Options) (front, error) {
	return api.NewRouter(nc, all, opts)
}

// openRouter begins to take the requests of callers for all shards, if there are several. One shard answers them itself.
func (s *Server) openRouter(context.Context) error {
	if !s.divided() {
		return nil
	}
	opts := s.doorOptions()
	opts.Process = s.process
	router, err := newRouter(s.bus.API(), ledShards{s}, opts)
	if err != nil {
		return err
	}
	s.router.Store(&router)
	s.reviewAccounts() // the accounts may have changed before others could see the router
	return nil
}

// executor returns what carries out requests at present; nil: nothing does.
func (s *Server) executor() *api.Executor {
	if router := s.router.Load(); router != nil {
		return (*router).Executor()
	}
	return s.first().shard.Service().Executor()
}

// reviewAccounts lets this process receive the requests of the tenants that have an account now. What does not succeed is
// logged.
func (s *Server) reviewAccounts() {
	if router := s.router.Load(); router != nil {
		if err := (*router).ReviewAccounts(); err != nil {
			s.opts.Logger.Error("the requests of a tenant are not received", slog.Any("error", err))
		}
	}
	for _, m := range s.running() {
		m.shard.ReviewAccounts()
	}
}

// closeRouter ends the router. A reply that waits must not delay the hand-over of the shards, so the channel gives the error
// when the requests in progress have their replies.
func (s *Server) closeRouter(ctx context.Context) <-chan error {
	closed := make(chan error, 1)
	router := s.router.Load()
	if router == nil {
		closed <- nil
		return closed
	}
	go func() { closed <- (*router).Close(ctx) }()
	return closed
}
