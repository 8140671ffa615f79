package web

import (
	"context"
	"log/slog"
	"net/http"
	"sync/atomic"

	"github.com/carillon-io/carillon/api"
	"github.com/carillon-io/carillon/apierr"
)

// Front is an HTTP server that answers from its start. Until Open it answers only that the process is alive and
// starting; after that, the server that Open received answers. So no handler runs before everything that it reads
// exists, and an early caller gets an answer at once. Safe for concurrent use. A node may read its data for minutes
// after its start. An orchestrator that got no connection in that time would restart it, and the reading would begin
// again.
type Front struct {
	*http.Server
	// behind is nil until Open, and never changes after that.
	behind atomic.Pointer[http.Server]
	web    *gateway // writes the replies during the start
}

// NewFront returns a front with the bounds of [New]. The caller serves a listener with it and shuts it down.
func NewFront(logger *slog.Logger) *Front {
	f := &Front{web: &gateway{opts: Options{Logger: logger}}}
	f.Server = newServer(f, logger)
	f.RegisterOnShutdown(f.web.sends.shut)
	return f
}

// newServer returns an HTTP server with the bounds of this package. Errors of single connections are logged at the
// level debug, because a caller can cause any number of them.
func newServer(h http.Handler, logger *slog.Logger) *http.Server {
	return &http.Server{
		Handler:           atOnce{h},
		ReadHeaderTimeout: headerTimeout, ReadTimeout: readTimeout,
		WriteTimeout: writeTimeout, IdleTimeout: idleTimeout, MaxHeaderBytes: headerBytesMax,
		DisableGeneralOptionsHandler: true, // it would answer before the host is checked
		ConnContext:                  withShown,
		ErrorLog:                     slog.NewLogLogger(logger.Handler(), slog.LevelDebug),
	}
}

// Open makes behind, which must have no listener of its own, answer from now on. behind is shut down together with
// the front. Open may be called only once. Requests that are being answered by the front are finished by it.
func (f *Front) Open(behind *http.Server) {
	// The registration comes first, so that a shutdown in between ends the server behind as well.
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
		f.web.refuse(rw, api.PublicError(apierr.Errorf(apierr.Unavailable, "", "the server starts, and answers when it has read its data; nothing has changed, ask again later")))
	}
}
