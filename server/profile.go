package server

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/http/pprof"
	"time"
)

// openProfile serves Go's profiles, if the options want that, on an address that only this machine reaches: a
// profile reveals the contents of memory, and takes time.
func (s *Server) openProfile(context.Context) error {
	if s.opts.ProfileListen == "" {
		return nil
	}
	l, err := net.Listen("tcp", s.opts.ProfileListen)
	if err != nil {
		return fmt.Errorf("listen for profiles on %s: %w", s.opts.ProfileListen, err)
	}
	s.profileListener = l
	mux := http.NewServeMux()
	mux.HandleFunc("GET /debug/pprof/", pprof.Index)
	mux.HandleFunc("GET /debug/pprof/cmdline", pprof.Cmdline)
	mux.HandleFunc("GET /debug/pprof/profile", pprof.Profile)
	mux.HandleFunc("GET /debug/pprof/symbol", pprof.Symbol)
	mux.HandleFunc("GET /debug/pprof/trace", pprof.Trace)
	s.profile = &http.Server{Handler: mux, ReadHeaderTimeout: 5 * time.Second}
	s.background.Go(func() {
		if err := s.profile.Serve(l); !errors.Is(err, http.ErrServerClosed) {
			s.fail(err)
		}
	})
	return nil
}
