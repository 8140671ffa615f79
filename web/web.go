package web

import (
	"cmp"
	"log/slog"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/carillon-io/carillon/access"
	"github.com/carillon-io/carillon/api"
	"github.com/carillon-io/carillon/apierr"
	"github.com/carillon-io/carillon/certs"
	"github.com/carillon-io/carillon/client"
	"github.com/carillon-io/carillon/oidc"
	"github.com/carillon-io/carillon/scheduler"
)

// Bounds of an HTTP connection.
const (
	// A caller that sends a header byte by byte holds a connection for no longer than the first.
	headerTimeout = 5 * time.Second
	readTimeout   = 10 * time.Second
	// It counts from the header on, so it has to exceed the time for reading a body and the time of a request
	// together.
	writeTimeout   = 30 * time.Second
	idleTimeout    = 2 * time.Minute
	headerBytesMax = 16 << 10
)

// Options configure the server of [New]. Every zero value means a default. They are copied by New; what the functions
// return may change later.
type Options struct {
	api.Node

	Logger *slog.Logger // default slog.Default()
	// Executor returns what carries out requests. It is called for each request, so it may return another one later. If
	// it is nil or returns nil, requests are refused as unavailable.
	Executor func() *api.Executor
	// Ready reports whether the process does its part, for /readyz. Nil: if its status [IsReady].
	Ready func() bool
	// Metrics answers /metrics. Nil means that there is no such path.
	Metrics http.Handler
	// Access are the rights of callers. Nil permits everything to every caller.
	Access *access.Keeper
	// Certificates verify what clients over TLS show, if the listener asks them for a certificate. Nil: no caller is known by
	// a certificate.
	Certificates *certs.Keeper
	// SessionKey returns the key under which the sessions of the pages are sealed, the same on all nodes of a cluster. It
	// is called for each request with a session, and does not block. Nil, or no rights: no reader signs in.
	SessionKey func() ([]byte, error)
	// Hosts are the names, in lower case, that requests may be for, in addition to IP addresses. Empty means none.
	Hosts []string
	// Pages returns the handler of all paths that [New] does not serve itself, such as a dashboard. desk carries
	// out its requests, with the present executor, and says who its reader is. A handler that is an io.Closer is
	// closed when the server is shut down, and must then end its streams. Nil means that there are no pages.
	Pages func(desk *Desk) http.Handler
}

// withDefaults returns the options with their defaults. The others need none: nil is a meaning of its own.
func (o Options) withDefaults() Options {
	o.Version, o.Logger = cmp.Or(o.Version, "dev"), cmp.Or(o.Logger, slog.Default())
	return o
}

// Engine is the part of an engine that HTTP shows without an executor. Status must not block: health checks call it
// while an engine is stuck.
type Engine interface {
	Status() scheduler.Status
}

// gateway answers HTTP requests. Its fields are fixed after New; sends and places guard themselves.
type gateway struct {
	engine Engine
	// onlyProbes: there are health, readiness and metrics, and no engine.
	onlyProbes bool
	opts       Options
	// plain has the paths that are neither of the API nor pages. They answer GET and HEAD.
	plain map[string]http.HandlerFunc

	reads, bulkReads *places // of the bodies being read
	// sends bounds every reply in time, those of the pages included.
	sends sends
	// issuer is that of the rights in force.
	issuer      oidc.Current
	issuerLines rarely           // of the log, about it
	now         func() time.Time // the clock of sessions
	pages       http.Handler     // of the options; nil: there are none
}

// New returns a server of /healthz, /readyz, /metrics, the API below /api/v1, and the pages of the options. The
// caller serves a listener with it and shuts it down. A shutdown ends the streams of pages and the replies that are
// not read, so it takes little longer than the requests in progress.
func New(engine Engine, opts Options) *http.Server {
	opts = opts.withDefaults()
	w := &gateway{
		engine: engine, opts: opts, reads: newPlaces(readsMax, readBytesMax), bulkReads: newPlaces(bulkReadsMax, bulkReadBytesMax),
		now: time.Now,
	}
	w.plain = map[string]http.HandlerFunc{"/healthz": w.health, "/readyz": w.ready, "/metrics": w.metrics}
	server := newServer(w, opts.Logger)
	server.RegisterOnShutdown(w.sends.shut)
	if opts.Pages != nil {
		w.withPages(server)
	}
	return server
}

// metrics answers with the metrics, which have figures of all tenants.
func (w *gateway) metrics(rw http.ResponseWriter, req *http.Request) {
	switch err := w.opts.Access.Authorize(w.recognize(req), "", "metrics"); {
	case w.refuseUnless(rw, err):
	case w.opts.Metrics == nil:
		w.unknown(rw, req)
	default:
		w.opts.Metrics.ServeHTTP(rw, req)
	}
}

// health answers that the process is alive. It reads nothing, so it answers even if the engine hangs: whether the
// node does its part is the question of /readyz.
func (w *gateway) health(rw http.ResponseWriter, _ *http.Request) {
	w.write(rw, http.StatusOK, map[string]string{"status": "ok"})
}

// readiness is the body of /readyz. Members that a node alone does not have are left out.
type readiness struct {
	// Ready is what the status says too: 200 for true, 503 for false.
	Ready bool `json:"ready"`
	// Role is leader, standby, candidate, joining, or starting before the engine is there.
	Role  string   `json:"role"`
	Lag   *uint64  `json:"lag,omitempty"`    // commits that a node of a cluster lacks
	LagMS *float64 `json:"lag_ms,omitempty"` // and for how long
	Waits string   `json:"waits,omitempty"`  // what it waits for before it leads
	// Clock says that the clock is behind what is decided, and what follows. The node does its part all the same: another one
	// with the same time could do no more.
	Clock string `json:"clock,omitempty"`
}

// ready reports whether the process does its part: it leads, or it stands by and hardly lags. A load balancer reads
// it to choose a node, and a rolling upgrade to wait for one.
func (w *gateway) ready(rw http.ResponseWriter, _ *http.Request) {
	info := w.info(access.Who{})
	ok, code := IsReady(info), http.StatusOK
	if w.opts.Ready != nil {
		ok = w.opts.Ready()
	}
	if !ok {
		code = http.StatusServiceUnavailable
	}
	body := readiness{Ready: ok, Role: info.Role, Clock: api.ClockText(info)}
	if c := info.Cluster; c != nil {
		body.Lag, body.LagMS, body.Waits = &c.Lag, &c.LagMS, c.Waits
	}
	w.write(rw, code, body)
}

// lagMost is how many commits a standby may lack and still be ready; it applies them before it leads. lagMSMost is
// how many milliseconds it may lack any, or hear no leader; the next node leads before that.
const (
	lagMost   = 1000
	lagMSMost = 5000
	// leaderLagMSMost is how many milliseconds the commits of a leader may wait for the stream. After that, the
	// launches that were committed ahead are used up.
	leaderLagMSMost = 10_000
)

// IsReady reports whether a node with a status does its part. A leader without trust may not launch, so it is not
// ready although it leads.
func IsReady(info *client.Status) bool {
	c := info.Cluster
	switch info.Role {
	case "leader":
		return c == nil || c.TrustMS > 0 && c.LagMS <= leaderLagMSMost
	case "standby":
		return info.LSN == info.AppliedLSN && (c == nil || c.Lag <= lagMost && c.LagMS <= lagMSMost)
	default:
		return false
	}
}

// info returns the status of the node, as a caller may read it.
func (w *gateway) info(who access.Who) *client.Status { return w.opts.Status(w.engine.Status(), who) }

// unknown answers for a path that does not exist, with the paths that do.
func (w *gateway) unknown(rw http.ResponseWriter, req *http.Request) {
	want := "GET /healthz, /readyz or /metrics"
	if !w.onlyProbes {
		want += ", or what /api/v1/openapi.json lists"
	}
	e := api.PublicError(apierr.Errorf(apierr.NotFound, "", "there is no %s %s; want %s", apierr.Clip(req.Method), apierr.Clip(strings.ToValidUTF8(req.URL.Path, "")), want))
	w.send(rw, e.Status, api.ErrorBody(e))
}

// write answers with a value as JSON. A value that cannot be encoded becomes an internal error, because no byte has
// been sent yet.
func (w *gateway) write(rw http.ResponseWriter, code int, value any) {
	body, err := api.Encode(value)
	if err != nil {
		w.opts.Logger.Error("a reply was not encoded", slog.Any("error", err))
		e := api.PublicError(err)
		code, body = e.Status, api.ErrorBody(e)
	}
	w.send(rw, code, body)
}

// send answers with a JSON text and a line end, for callers at a terminal. no-store keeps caches from showing an old
// state; nosniff keeps browsers from reading a reply as anything but JSON.
func (w *gateway) send(rw http.ResponseWriter, code int, body []byte) {
	h := rw.Header()
	h.Set("Content-Type", "application/json")
	h.Set("Cache-Control", "no-store")
	h.Set("X-Content-Type-Options", "nosniff")
	h.Set("Content-Length", strconv.Itoa(len(body)+1))
	w.sends.write(rw, code, body, lineEnd)
}

// All replies share it; it is only read.
var lineEnd = []byte{'\n'}
