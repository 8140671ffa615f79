package server

import (
	"errors"
	"net/http"

	"github.com/carillon-io/carillon/api"
	"github.com/carillon-io/carillon/bus"
	"github.com/carillon-io/carillon/client"
	"github.com/carillon-io/carillon/dashboard"
	"github.com/carillon-io/carillon/metrics"
	"github.com/carillon-io/carillon/web"
)

// openFront begins to serve HTTP. Until serveWeb, each reply says that the server starts.
func (s *Server) openFront() {
	s.web = web.NewFront(s.opts.Logger)
	listener := s.limited()
	s.background.Go(func() {
		if err := s.web.Serve(listener); !errors.Is(err, http.ErrServerClosed) {
			s.fail(err)
		}
	})
}

// serveWeb serves HTTP from the engine, through the service that is current at each request.
func (s *Server) serveWeb(engine web.Engine, service func() *api.Service) {
	node, executor := s.aboutNode(), func() *api.Executor { return service().Executor() }
	s.web.Open(web.New(engine, web.Options{
		Node: node, Logger: s.opts.Logger, Executor: executor, Hosts: s.opts.httpHosts(), Pages: s.pages(engine),
		Metrics: metrics.New(metrics.Options{
			Node: node, Logger: s.opts.Logger, Engine: engine, Executor: executor,
			Storage: s.storage, Deliveries: s.deliveries, NATS: s.aboutNATS(),
		}),
	}))
}

// aboutNode returns what the node shows of itself. It is called when the cluster, if there is one, is found.
func (s *Server) aboutNode() api.Node {
	return api.Node{Version: s.opts.Version, Cluster: s.aboutCluster(), Inboxes: s.inboxes, Surroundings: s.around}
}

// pages makes the dashboard.
func (s *Server) pages(engine web.Engine) func(client.Local) http.Handler {
	return func(asker client.Local) http.Handler {
		return dashboard.New(asker, dashboard.Options{Status: engine.Status, Location: s.opts.zones.Location, Logger: s.opts.Logger})
	}
}

// httpHosts returns the host names that HTTP requests may name; none means any.
func (o Options) httpHosts() []string {
	if len(o.HTTPHosts) > 0 || !bus.OnLoopback(o.HTTPListen) {
		return o.HTTPHosts
	}
	return web.HostsLocal
}
