package server

import (
	"context"
	"fmt"
	"log/slog"
	"net/http"

	"github.com/carillon-io/carillon/api"
	"github.com/carillon-io/carillon/bus"
	"github.com/carillon-io/carillon/metrics"
	"github.com/carillon-io/carillon/web"
)

// openHealth serves over HTTP what every node serves: health, readiness and metrics.
func (s *Server) openHealth(ctx context.Context) error {
	if err := s.dir.MetLeader(); err != nil {
		return err
	}
	warnings, err := s.bus.Check(ctx, s.bus.API(), bus.MembersWanted)
	if err != nil {
		return err
	}
	for _, w := range warnings {
		s.opts.Logger.Warn(w, slog.String("node", s.opts.Node))
	}
	mux := http.NewServeMux()
	shown := metrics.New(metrics.Options{
		Node: api.Node{Version: s.opts.Version}, Logger: s.opts.Logger, NATS: s.aboutNATS(), Certificates: s.aboutCertificates(), Rights: s.access, Insecure: s.opts.Insecure,
	})
	mux.Handle("GET /metrics", web.GuardMetrics(shown, s.access, s.certs.http, s.opts.Logger))
	mux.HandleFunc("GET /healthz", func(w http.ResponseWriter, _ *http.Request) {
		_, _ = fmt.Fprintln(w, "ok")
	})
	mux.HandleFunc("GET /readyz", func(w http.ResponseWriter, _ *http.Request) {
		if now, _ := s.bus.Embedded(); !now.IsCurrent {
			http.Error(w, "JetStream has no leader, or this witness is behind it", http.StatusServiceUnavailable)
			return
		}
		_, _ = fmt.Fprintln(w, "witness")
	})
	s.web.Open(&http.Server{Handler: web.GuardHosts(mux, s.opts.httpHosts(), s.opts.Logger)})
	s.ready = Ready{NATS: s.bus.URL(), HTTP: s.httpURL(), Listen: s.listening(), Role: "witness"}
	return nil
}
