package shard

import (
	"context"
	"log/slog"
	"sync/atomic"
	"time"

	"github.com/carillon-io/carillon/api"
)

// closeServiceMax bounds how long a node that changes its role waits for the requests under way.
const closeServiceMax = 250 * time.Millisecond

// service answers the requests of callers. nil: there is none.
type service struct {
	*api.Service
	standby bool // it is that of a standby
	passes  bool // it passes everything on, while the node changes its part
}

// api returns the service as callers see it.
func (v *service) api() *api.Service {
	if v == nil {
		return nil
	}
	return v.Service
}

// openService makes the service that answers requests from the present engine, as the leader or as a standby. It
// replaces the service before it, and does not wait for the requests of that one.
func (s *Shard) openService(standby bool) error {
	if s.opts.Conn == nil {
		return nil
	}
	o := s.opts.API
	o.Shard, o.Standby = s.opts.Number, standby
	if s.node != nil {
		o.Leads = func() bool { return s.node.Trust() > 0 }
		if o.Shards > 1 {
			o.Unsure = func() time.Duration { return max(0, -s.node.Trust()) }
		}
		if standby {
			o.Whole = s.node.IsComplete
		}
	}
	opened, err := api.NewService(s.opts.Conn, s.engine.Load(), o)
	if err != nil {
		return err
	}
	before := s.lingering(standby).Load()
	last := s.replaceService(&service{Service: opened, standby: standby})
	before.End()
	s.lingering(standby).Load().End() // of last, if that had the same role
	if last != nil {
		s.closing.begin(func() { s.closeOne(context.Background(), last) })
	}
	s.ReviewAccounts() // the accounts may have changed before others could see the service
	return nil
}

// replaceService replaces the present service, and returns it; nil if there is none.
func (s *Shard) replaceService(next *service) *api.Service {
	last := s.service.Swap(next)
	if last != nil {
		s.lingering(last.standby).Store(last.Lingering())
	}
	return last.api()
}

// lingering returns what is left of the last service of a leader, or of a standby.
func (s *Shard) lingering(standby bool) *atomic.Pointer[api.Lingering] {
	if standby {
		return &s.lastStandby
	}
	return &s.lastLeader
}

// ReviewAccounts makes the present service receive the requests of the tenants that have an account now. It is called after
// each change of the rights. What does not succeed is logged. Safe for concurrent use.
func (s *Shard) ReviewAccounts() {
	if err := s.Service().ReviewAccounts(); err != nil {
		s.opts.Logger.Error("the requests of a tenant are not received", slog.Any("error", err))
	}
}

// beginPassing ends the present service, and waits for nothing: passOn does. From then on requests over HTTP go to the leader.
func (s *Shard) beginPassing() {
	if service := s.replaceByForwarder(); service != nil {
		s.closing.begin(func() { s.closeOne(context.Background(), service) })
	}
}

// passOn ends the present service, and waits for those that were replaced, each for a bounded time. From then on requests over HTTP
// go to the leader, until this node answers again.
func (s *Shard) passOn(ctx context.Context) {
	s.endService(ctx, s.replaceByForwarder())
}

// closeService ends the present service, and waits for those that it replaced, each for a bounded time.
func (s *Shard) closeService(ctx context.Context) {
	s.endService(ctx, s.replaceService(nil))
}

// endService closes a service that was replaced, unless it is nil, and waits for those before it.
func (s *Shard) endService(ctx context.Context, service *api.Service) {
	if service != nil {
		s.closeOne(ctx, service)
	}
	s.closing.wait()
}

// replaceByForwarder replaces the present service by one that passes everything on, and returns it; nil if there is none, or if
// that is one already. The leaders of several shards are reached by way of the router instead, which needs no service.
func (s *Shard) replaceByForwarder() *api.Service {
	if now := s.service.Load(); now == nil || now.passes {
		return nil
	}
	if s.node == nil || s.opts.API.Shards > 1 {
		return s.replaceService(nil)
	}
	o := s.opts.API
	o.Shard = s.opts.Number
	forwarder, err := api.NewForwarder(s.opts.Conn, s.engine.Load(), o)
	if err != nil {
		s.opts.Logger.Warn("requests that come over HTTP are refused while the node changes its part", slog.Any("error", err))
		return s.replaceService(nil)
	}
	return s.replaceService(&service{Service: forwarder, standby: true, passes: true})
}

func (s *Shard) closeOne(ctx context.Context, service *api.Service) {
	ctx, cancel := context.WithTimeout(ctx, closeServiceMax)
	defer cancel()
	if err := service.Close(ctx); err != nil {
		s.opts.Logger.Debug("requests were cut short", slog.Any("error", err))
	}
}
