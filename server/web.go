package server

import (
	"errors"
	"net/http"

	"github.com/carillon-io/carillon/api"
	"github.com/carillon-io/carillon/bus"
	"github.com/carillon-io/carillon/client"
	"github.com/carillon-io/carillon/dashboard"
)

// openFront begins to serve HTTP. Until serveWeb, each reply says that the server starts.
func (s *Server) openFront() {
	s.web = api.NewFront(s.opts.Logger)
	listener := s.limited()
	s.background.Go(func() {
		if err := s.web.Serve(listener); !errors.Is(err, http.ErrServerClosed) {
			s.fail(err)
		}
	})
}

// serveWeb serves HTTP from the engine, through the service that is current at each request.
func (s *Server) serveWeb(engine api.Reader, service func() *api.Service) {
	s.web.Open(api.NewHTTP(engine, api.HTTPOptions{
		Version: s.opts.Version, Logger: s.opts.Logger, Service: service, Cluster: s.aboutCluster(), Hosts: s.opts.httpHosts(),
		Inboxes: s.inboxes, Surroundings: s.around,
		Storage: s.storage, Deliveries: s.deliveries, NATS: s.aboutNATS(), Pages: s.pages(engine),
	}))
}

// pages makes the dashboard.
func (s *Server) pages(engine api.Reader) func(client.Local) http.Handler {
	return func(asker client.Local) http.Handler {
		return dashboard.New(asker, dashboard.Options{Status: engine.Status, Location: s.opts.zones.Location, Logger: s.opts.Logger})
	}
}

// httpHosts returns the host names that HTTP requests may name; none means any.
func (o Options) httpHosts() []string {
	if len(o.HTTPHosts) > 0 || !bus.OnLoopback(o.HTTPListen) {
		return o.HTTPHosts
	}
	return api.HostsLocal
}
