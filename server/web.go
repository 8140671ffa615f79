package server

import (
	"context"
	"errors"
	"log/slog"
	"net/http"
	"strings"

	"github.com/carillon-io/carillon/api"
	"github.com/carillon-io/carillon/bus"
	"github.com/carillon-io/carillon/client"
	"github.com/carillon-io/carillon/dashboard"
	"github.com/carillon-io/carillon/metrics"
	"github.com/carillon-io/carillon/web"
)

// openFront begins to serve HTTP. Until openWeb, each reply says that the server starts.
func (s *Server) openFront() {
	s.web = web.NewFront(s.opts.Logger)
	listener := s.limited()
	s.background.Go(func() {
		if err := s.web.Serve(listener); !errors.Is(err, http.ErrServerClosed) {
			s.fail(err)
		}
	})
}

// openWeb serves HTTP from the shard, through the service that is current at each request.
func (s *Server) openWeb(context.Context) error {
	node, executor := s.aboutNode(), func() *api.Executor { return s.shard.Service().Executor() }
	s.web.Open(web.New(s.shard, web.Options{
		Node: node, Logger: s.opts.Logger, Executor: executor, Access: s.access, Certificates: s.certs.http, SessionKey: s.sessionKey.get, Hosts: s.opts.httpHosts(), Pages: s.pages(),
		Metrics: metrics.New(metrics.Options{
			Node: node, Logger: s.opts.Logger, Engine: s.shard, Executor: executor,
			Storage: s.storage, Deliveries: s.deliveries, NATS: s.aboutNATS(), Certificates: s.aboutCertificates(), Rights: s.access, Guarded: s.guardedRequests(), Insecure: s.opts.Insecure, Quotas: s.doorQuotas(),
		}),
	}))
	return nil
}

// aboutNode returns what the node shows of itself.
func (s *Server) aboutNode() api.Node {
	return api.Node{Version: s.opts.Version, Cluster: s.aboutCluster(), Inboxes: s.inboxes, Surroundings: surroundings{s.around, s.certs}, Further: s.furtherWarnings, Guarded: s.guardedWarnings}
}

// pages makes the dashboard.
func (s *Server) pages() func(*web.Desk) http.Handler {
	return func(desk *web.Desk) http.Handler {
		o := dashboard.Options{
			Status: s.shard.Status, Location: s.opts.zones.Location, Logger: s.opts.Logger, OpenStream: s.openStream, Insecurity: s.opts.insecurity(), API: web.OpenAPI,
		}
		if s.access != nil {
			o.Rights = desk
		}
		if s.opts.clustered() {
			o.HandOver = s.askForHandover
		}
		if s.daybook != nil {
			o.Daybook = s.daybook
		}
		s.dashboard = dashboard.New(desk, o)
		return s.dashboard
	}
}

// askForHandover asks the leader, which may be another node, to hand over. The dashboard has checked the rights of its
// reader.
func (s *Server) askForHandover(ctx context.Context, to string) (string, error) {
	c, err := client.New(s.bus.API(), client.Options{Prefix: s.opts.Prefix})
	if err != nil {
		return "", err
	}
	defer c.Close()
	s.opts.Logger.Info("a hand-over was asked for on a page", slog.String("to", to))
	reply, err := c.Handover(ctx, shardNumber, to)
	if err == nil {
		return reply.To, nil
	}
	// The leader refuses in words, and without a status of HTTP.
	e := &client.Error{Code: client.CodeUnavailable, Message: err.Error()}
	_ = errors.As(err, &e)
	e.Status = http.StatusServiceUnavailable
	return "", e
}

// openStream counts a stream of a page against the quota of a tenant.
func (s *Server) openStream(tenant string) (done func(), err error) {
	if done, err = s.access.OpenStream(tenant); err != nil {
		return nil, api.PublicError(err)
	}
	return done, nil
}

// httpHosts returns the host names that HTTP requests may be for, in addition to addresses. Only this machine can reach a
// listener on loopback, so there the name localhost needs no configuration.
func (o Options) httpHosts() (names []string) {
	if len(o.HTTPHosts) == 0 && bus.OnLoopback(o.HTTPListen) {
		return web.HostsLocal
	}
	for _, name := range o.HTTPHosts {
		names = append(names, strings.ToLower(strings.TrimSuffix(name, ".")))
	}
	return names
}
