package server

import (
	"context"
	"log/slog"

	"github.com/carillon-io/carillon/api"
	"github.com/carillon-io/carillon/metrics"
	"github.com/carillon-io/carillon/web"
)

// openHealth serves over HTTP what every node serves: health, readiness and metrics.
func (s *Server) openHealth(ctx context.Context) error {
	if err := s.dir.MetLeader(); err != nil {
		return err
	}
	warnings, err := s.bus.Check(ctx, s.bus.API())
	if err != nil {
		return err
	}
	for _, w := range warnings {
		s.opts.Logger.Warn(w, slog.String("node", s.opts.Node))
	}
	s.web.Open(web.NewProbes(web.Options{
		Logger: s.opts.Logger, Access: s.access, Certificates: s.certs.http, Hosts: s.opts.httpHosts(),
		Metrics: metrics.New(metrics.Options{
			Node: api.Node{Version: s.opts.Version}, Logger: s.opts.Logger, NATS: s.aboutNATS(), Certificates: s.aboutCertificates(), Rights: s.access, Guarded: s.guardedRequests(), Insecure: s.opts.Insecure,
		}),
	}, "witness", s.witnessWaits))
	s.ready = Ready{NATS: s.bus.URL(), HTTP: s.httpURL(), Listen: s.listening(), Role: "witness"}
	return nil
}

// witnessWaits returns what a witness waits for before it does its part; "" if it does.
func (s *Server) witnessWaits() string {
	if now, _ := s.bus.Embedded(); !now.IsCurrent {
		return "a leader of JetStream with which this witness is level"
	}
	return ""
}
