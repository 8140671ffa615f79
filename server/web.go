package server

import (
	"context"
	"errors"
	"net/http"
	"strings"

	"github.com/carillon-io/carillon/api"
	"github.com/carillon-io/carillon/bus"
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
			Storage: s.storage, Deliveries: s.deliveries, NATS: s.aboutNATS(), Certificates: s.aboutCertificates(), Rights: s.access, Insecure: s.opts.Insecure, Quotas: s.doorQuotas(),
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
		return dashboard.New(desk, o)
	}
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
