package api

import (
	"context"
	"fmt"
	"log/slog"
	"regexp"
	"strings"
	"sync/atomic"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/micro"
)

// serviceName is what `nats micro ls` shows.
func (o *Options) serviceName() string {
	if o.Standby {
		return "carillon-standby"
	}
	return "carillon"
}

// root is what the subjects begin with.
func (o *Options) root() string {
	if o.Standby {
		return o.Prefix + ".standby.v1."
	}
	return o.Prefix + ".v1."
}

// The pending limits of each endpoint's subscription. Handlers do not block, so that they fill only
// when the process gets no CPU at all; beyond them NATS drops messages.
const (
	pendingMessages = 64 << 10
	pendingBytes    = 256 << 20
)

// The bounds of what Close waits for, besides the requests under way: subscriptions to hand out what
// they have, and the NATS server to take the last replies.
const (
	drainTimeout = time.Second
	flushTimeout = 5 * time.Second
)

// semanticForm is the grammar of versions without the finer points of pre-releases.
var semanticForm = regexp.MustCompile(`^(0|[1-9]\d*)\.(0|[1-9]\d*)\.(0|[1-9]\d*)(-[a-zA-Z][0-9a-zA-Z-]*|-\d+-g[0-9a-f]+(-dirty)?)?$`)

// Service answers the API's verbs over NATS. Its methods are safe for concurrent use.
type Service struct {
	opts   Options
	engine Engine
	nc     *nats.Conn
	micro  micro.Service

	single, bulk *gate
	stats        map[string]*verbStats // by verb; fixed after the start
	underWay     atomic.Int64          // requests that have no reply yet
	others       int                   // subscriptions of the connection before ours
}

// NewService subscribes to the subjects of every verb, <prefix>.v1.<tenant>.<verb>, and answers from
// the engine until Close. The connection stays the caller's.
func NewService(nc *nats.Conn, engine Engine, opts Options) (*Service, error) {
	opts = opts.withDefaults()
	if err := opts.validate(); err != nil {
		return nil, err
	}
	s := &Service{
		opts: opts, engine: engine, nc: nc, stats: make(map[string]*verbStats), others: nc.NumSubscriptions(),
		single: newGate(opts.RequestsMax, 0), bulk: newGate(opts.BulkMax, opts.BulkWaiting),
	}
	var err error
	s.micro, err = micro.AddService(nc, micro.Config{
		Name: s.opts.serviceName(), Version: semanticVersion(opts.Version), Description: "Durable job scheduler",
		Metadata:     map[string]string{"version": opts.Version, "prefix": opts.Prefix},
		StatsHandler: func(e *micro.Endpoint) any { return s.stats[verbOf(e.Name)].snapshot() },
		ErrorHandler: func(_ micro.Service, err *micro.NATSError) {
			opts.Logger.Warn("the API lost messages or its subscription", slog.String("subject", err.Subject), slog.Any("error", err))
		},
	})
	if err != nil {
		return nil, fmt.Errorf("api: add the NATS service: %w", err)
	}
	if err := s.addEndpoints(); err != nil {
		_ = s.micro.Stop()
		return nil, err
	}
	return s, nil
}

func (s *Service) addEndpoints() error {
	// The group's prefix is a wildcard for every tenant.
	group := s.micro.AddGroup(s.opts.root() + "*")
	for i := range verbs {
		s.stats[verbs[i].name] = newVerbStats()
	}
	for i := range verbs {
		v := &verbs[i]
		metadata, err := v.metadata()
		if err != nil {
			return err
		}
		err = group.AddEndpoint(endpointName(v.name), s.accept(v),
			micro.WithEndpointSubject(v.name), micro.WithEndpointMetadata(metadata),
			micro.WithEndpointPendingLimits(pendingMessages, pendingBytes))
		if err != nil {
			return fmt.Errorf("api: add the endpoint of %s: %w", v.name, err)
		}
	}
	return nil
}

// endpointName returns a verb as NATS services allow it in a name, and verbOf is its inverse.
func endpointName(verb string) string { return strings.Replace(verb, ".", "-", 1) }
func verbOf(endpoint string) string   { return strings.Replace(endpoint, "-", ".", 1) }

// Close takes no further request, and returns when those under way have their replies, or when ctx
// ends.
func (s *Service) Close(ctx context.Context) error {
	if err := s.micro.Stop(); err != nil {
		return fmt.Errorf("api: stop the NATS service: %w", err)
	}
	poll := time.NewTicker(2 * time.Millisecond)
	defer poll.Stop()
	for give := time.Now().Add(drainTimeout); s.underWay.Load() > 0 || s.isDraining() && time.Now().Before(give); {
		select {
		case <-poll.C:
		case <-ctx.Done():
			return fmt.Errorf("api: close with %d requests under way: %w", s.underWay.Load(), ctx.Err())
		}
	}
	if s.nc.IsClosed() {
		return nil
	}
	ctx, cancel := context.WithTimeout(ctx, flushTimeout)
	defer cancel()
	if err := s.nc.FlushWithContext(ctx); err != nil {
		return fmt.Errorf("api: flush the last replies: %w", err)
	}
	return nil
}

// isDraining tells whether subscriptions may still have requests to hand out. The library tells that
// by nothing but their number, which the connection's other users may change; so it is a hint.
func (s *Service) isDraining() bool { return !s.nc.IsClosed() && s.nc.NumSubscriptions() > s.others }
