package web

import (
	"cmp"
	"context"
	"fmt"
	"log/slog"
	"math"
	"net/http"
	"net/url"
	"strconv"
	"strings"

	"github.com/carillon-io/carillon/access"
	"github.com/carillon-io/carillon/api"
	"github.com/carillon-io/carillon/apierr"
	"github.com/carillon-io/carillon/client"
)

// retryAfter is the header value, in seconds, of a refusal that may succeed later. A leader is mostly back within
// some seconds; a longer pause would make callers wait for nothing, a shorter one cannot be written in seconds.
const retryAfter = "1"

// ServeHTTP answers a request. A path is taken as it was sent, and nothing is redirected to another spelling of it. The
// host is checked first, because a page of another site must not even learn which paths there are; then a caller below
// /api must be known, before anything else of the request is looked at.
func (w *gateway) ServeHTTP(rw http.ResponseWriter, req *http.Request) {
	if !w.knowsHost(req.Host) {
		w.refuseHost(rw, req)
		return
	}
	// Before the routes, so that a job cannot use any of the API or of the pages with the server's place in the
	// network.
	if err := api.RefuseDelivery(req.Header); err != nil && !isProbe(req.URL.Path) {
		w.refuse(rw, api.PublicError(err))
		return
	}
	if w.onlyProbes || !isOfAPI(req.URL.Path) {
		w.sends.guard(http.HandlerFunc(w.servePlain), rw, req)
		return
	}
	r, name, allow := theRouter.match(req.Method, req.URL.EscapedPath())
	who := w.recognize(req)
	switch {
	case (r == nil || r.verb != "") && w.refuseStranger(rw, who):
	case r != nil:
		w.serveRoute(rw, req, r, name, who)
	case allow != nil:
		w.refuseMethod(rw, req, allow)
	default:
		w.unknown(rw, req)
	}
}

// isProbe reports whether a path shows only the health of the process. A job may call it.
func isProbe(path string) bool { return path == "/healthz" || path == "/readyz" }

// isOfAPI reports whether a path belongs to the API, whether it exists or not: programs get JSON there and no page.
func isOfAPI(path string) bool { return path == "/api" || strings.HasPrefix(path, "/api/") }

// servePlain answers what is not of the API: health, metrics and pages.
func (w *gateway) servePlain(rw http.ResponseWriter, req *http.Request) {
	serve, found := w.plain[req.URL.Path]
	switch {
	case found && isRead(req):
		serve(rw, req)
	case found:
		w.refuseMethod(rw, req, []string{http.MethodGet, http.MethodHead})
	case w.pages == nil:
		w.unknown(rw, req)
	case !w.isForeign(rw, req) && !w.serveSignIn(rw, req):
		w.servePage(rw, req)
	}
}

// refuseMethod answers a request with a method that its path does not have.
func (w *gateway) refuseMethod(rw http.ResponseWriter, req *http.Request, allow []string) {
	rw.Header().Set("Allow", strings.Join(allow, ", "))
	w.refuse(rw, &client.Error{
		Code: api.CodeMethodNotAllowed, Status: http.StatusMethodNotAllowed,
		Message: fmt.Sprintf("%s is no method of this path; want %s", apierr.Clip(strings.ToValidUTF8(req.Method, "")), strings.Join(allow, ", ")),
	})
}

// refuseStranger refuses a request whose sender is unknown, and reports whether it did. Which verb and which tenant are
// meant makes no difference to such a caller.
func (w *gateway) refuseStranger(rw http.ResponseWriter, who access.Who) (refused bool) {
	return w.opts.Access != nil && who.Principal == nil && w.refuseUnless(rw, w.opts.Access.Authorize(who, "", "status"))
}

// serveRoute answers a request of the API. The room of the reply is held until it is written, which sends bounds in
// time. The check of the origin comes before the executor is entered, so a flood from a browser takes no place of a
// request.
func (w *gateway) serveRoute(rw http.ResponseWriter, req *http.Request, r *route, name string, who access.Who) {
	if w.isForeign(rw, req) {
		return
	}
	if r.isLocal() {
		w.serveLocal(rw, req, r, who)
		return
	}
	x := w.executor()
	if x == nil {
		w.refuse(rw, api.PublicError(w.errNoService(req.Header.Get(api.StandbyHeader) == "true")))
		return
	}
	reply, refusal := w.serveVerb(rw, req, x, r, name, who)
	if refusal != nil {
		w.refuse(rw, refusal)
		return
	}
	defer reply.Release()
	w.answer(rw, req, reply)
}

// errNoService returns the refusal of a node without an executor. It is transient, so the status is one that callers
// repeat. In a cluster the code is not_leader, which says that nothing has changed, so a caller may repeat any request. A read
// that may lag needs no leader; a client that asks for one would take not_leader as final, so it gets unavailable.
func (w *gateway) errNoService(mayLag bool) error {
	code := apierr.Unavailable
	if w.opts.Cluster != nil && !mayLag {
		code = apierr.NotLeader
	}
	return apierr.Errorf(code, "", "the node carries no requests out just now: it starts, stops or changes its part; nothing has changed, ask again later")
}

// serveLocal answers what the node knows by itself, even without a service. The status is most wanted when the node
// does not carry out requests, so it must not need an executor.
func (w *gateway) serveLocal(rw http.ResponseWriter, req *http.Request, r *route, who access.Who) {
	if r.verb != "" && w.refuseUnless(rw, w.opts.Access.Authorize(who, "", r.verb)) {
		return
	}
	c := call{route: r}
	if err := c.takeQuery(req.URL.RawQuery); err != nil {
		w.refuse(rw, api.PublicError(err))
		return
	}
	if r.verb != "" && w.refuseUnless(rw, w.opts.Access.SpendAny(who, cmp.Or(url.Values(c.params).Get("tenant"), tenantDefault))) {
		return
	}
	switch r.verb {
	case "status":
		w.opts.Look()
		w.sendStatus(rw, req, who)
		return
	case "whoami":
		w.write(rw, http.StatusOK, w.opts.Whoami(w.engine.Status(), w.opts.Access, who))
		return
	}
	body, err := openAPIDocument()
	if err != nil {
		w.opts.Logger.Error("the description of the API was not made", slog.Any("error", err))
		w.refuse(rw, api.PublicError(err))
		return
	}
	w.send(rw, http.StatusOK, body)
}

// sendStatus answers with the status: that of all shards if there are several, and otherwise that of this node.
func (w *gateway) sendStatus(rw http.ResponseWriter, req *http.Request, who access.Who) {
	var lag *api.Lag
	if req.Header.Get(api.StandbyHeader) == "true" {
		lag = new(api.Lag)
	}
	if text, ok := w.statusOfAll(req.Context(), "http", who, lag); ok {
		lag.State(rw.Header())
		w.send(rw, http.StatusOK, text)
		return
	}
	w.write(rw, http.StatusOK, w.info(who))
}

// statusOfAll returns the status of all shards, from copies of them with a lag; ok is false if there is one shard, or no executor at present.
func (w *gateway) statusOfAll(ctx context.Context, from string, who access.Who, lag *api.Lag) (text []byte, ok bool) {
	x := w.executor()
	if x == nil {
		return nil, false
	}
	defer x.Leave()
	return x.StatusOfAll(ctx, tenantDefault, from, who, lag)
}

// executorTries is how often a request asks for the executor: a closed one may have a successor. A second closed
// one means that the node stops or changes its part, which may take long, so the caller is told.
const executorTries = 2

// executor returns the present executor, which this request has entered; nil if there is none. The caller must call
// Leave on it.
func (w *gateway) executor() *api.Executor {
	for range executorTries {
		if w.opts.Executor == nil {
			break
		}
		x := w.opts.Executor()
		if x == nil {
			break
		}
		if x.Enter() {
			return x
		}
	}
	return nil
}

// serveVerb carries out a request like one that came over NATS, and returns the reply to be sent. Its context does
// not end with the connection: a caller that goes away after its request has arrived has asked for the change all the
// same.
func (w *gateway) serveVerb(rw http.ResponseWriter, req *http.Request, x *api.Executor, r *route, name string, who access.Who) (api.Reply, *client.Error) {
	defer x.Leave() // before the reply is sent, so that a caller who does not read it cannot delay the Close of the service
	var got call
	reply, refusal := x.OverHTTP(context.Background(), api.VerbNamed(r.verb), req.Header.Get, func() (api.Request, error) {
		c, err := w.callOf(rw, req, x, r, name, who)
		got = *c
		return c.Request, err
	})
	if got.Lag != nil && r.method == http.MethodGet {
		x.StateLag(rw.Header(), got.Lag)
	}
	return reply, w.refusalOf(refusal, got.isConditional)
}

// refusalOf returns a refusal as HTTP has it: a failed condition of a header has a status of its own, and a refusal of
// a standby names the leader.
func (w *gateway) refusalOf(e *client.Error, isConditional bool) *client.Error {
	if e == nil {
		return nil
	}
	switch e.Code {
	case client.CodeVersionConflict, client.CodeAlreadyExists:
		if isConditional {
			e.Status = http.StatusPreconditionFailed
		}
	case client.CodeNotLeader:
		e.Message = w.whoLeads(e.Message)
	}
	return e
}

// whoLeads adds the name of the leader to a message, if this node knows it. An operator then knows which node to look
// at; a caller need not ask another one, because a standby has passed the request on already.
func (w *gateway) whoLeads(message string) string {
	if w.opts.Cluster != nil {
		if c := w.opts.Cluster(); c.Holder != "" && c.Holder != c.Node {
			return fmt.Sprintf("%s; the leader is the node %s", message, c.Holder)
		}
	}
	return message + "; no leader is known just now"
}

// refuse answers with an error.
func (w *gateway) refuse(rw http.ResponseWriter, e *client.Error) {
	if e.Status == http.StatusUnauthorized {
		rw.Header().Set("WWW-Authenticate", bearer)
	}
	if e.RetryAfter > 0 {
		rw.Header().Set("Retry-After", strconv.FormatInt(int64(math.Ceil(e.RetryAfter.Seconds())), 10))
	}
	w.send(rw, e.Status, api.ErrorBody(e))
}
