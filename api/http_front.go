package api

import (
	"context"
	"log/slog"
	"net/http"
	"sync/atomic"

	"github.com/carillon-io/carillon/job"
)

// Front is an HTTP server that answers from its first moment on: until Open, that the process is there and that it
// starts, and then by the server that Open gave it. So no handler runs before all that it reads is there, and a
// caller who comes early is answered at once. Safe for concurrent use.
type Front struct {
	*http.Server
	behind atomic.Pointer[http.Server]
	web    *web // writes the replies of a start
}

// NewFront returns a front with the bounds of [NewHTTP]. The caller gives it a listener and shuts it down.
func NewFront(logger *slog.Logger) *Front {
	f := &Front{web: &web{opts: HTTPOptions{Logger: logger}}}
	f.Server = newServer(f, logger)
	f.RegisterOnShutdown(f.web.sends.shut)
	return f
}

// newServer returns an HTTP server with our bounds.
func newServer(h http.Handler, logger *slog.Logger) *http.Server {
	return &http.Server{
		Handler:           h,
		ReadHeaderTimeout: httpHeaderTimeout, ReadTimeout: httpReadTimeout,
		WriteTimeout: httpWriteTimeout, IdleTimeout: httpIdleTimeout, MaxHeaderBytes: httpHeaderBytes,
		DisableGeneralOptionsHandler: true, // it would answer before the host is checked
		ErrorLog:                     slog.NewLogLogger(logger.Handler(), slog.LevelDebug),
	}
}

// Open lets a server answer from now on, which has no listener of its own. It is shut down with the front. Open is
// called once.
func (f *Front) Open(behind *http.Server) {
	f.RegisterOnShutdown(func() { _ = behind.Shutdown(context.Background()) }) // it has no connection to wait for
	f.behind.Store(behind)
}

// ServeHTTP implements [http.Handler].
func (f *Front) ServeHTTP(rw http.ResponseWriter, req *http.Request) {
	if s := f.behind.Load(); s != nil {
		s.Handler.ServeHTTP(rw, req)
		return
	}
	switch req.URL.Path {
	case "/healthz":
		f.web.health(rw, req)
	case "/readyz":
		f.web.write(rw, http.StatusServiceUnavailable, readiness{Role: "starting"})
	default:
		f.web.refuse(rw, publicError(job.Errorf(job.CodeUnavailable, "", "the server starts, and answers when it has read its data; ask again later")))
	}
}
