package server

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/http/pprof"
	"time"

	"github.com/carillon-io/carillon/web"
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
	s.profile = &http.Server{Handler: forThisMachine(mux), ReadHeaderTimeout: 5 * time.Second}
	s.background.Go(func() {
		if err := s.profile.Serve(l); !errors.Is(err, http.ErrServerClosed) {
			s.fail(err)
		}
	})
	return nil
}

// forThisMachine passes on requests that name this machine, by address or as localhost. Others may come from a page of
// another site whose name resolves to this machine, in a browser that runs here.
func forThisMachine(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if !web.KnowsHost(web.HostsLocal, r.Host) {
			http.Error(w, "profiles are for this machine; ask for 127.0.0.1 or localhost", http.StatusMisdirectedRequest)
			return
		}
		next.ServeHTTP(w, r)
	})
}
