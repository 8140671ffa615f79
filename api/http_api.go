package api

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"strings"
	"time"

	"github.com/carillon-io/carillon/apierr"
	"github.com/carillon-io/carillon/client"
)

// Codes that exist only over HTTP.
const (
	codeMethodNotAllowed     client.Code = "method_not_allowed"
	codeUnsupportedMediaType client.Code = "unsupported_media_type"
	codeUnknownHost          client.Code = "unknown_host"
	codeCrossOrigin          client.Code = "cross_origin"
)

// statusOfHTTP is the status of each of those codes.
var statusOfHTTP = map[client.Code]int{
	codeMethodNotAllowed: http.StatusMethodNotAllowed, codeUnsupportedMediaType: http.StatusUnsupportedMediaType,
	codeUnknownHost: http.StatusMisdirectedRequest, codeCrossOrigin: http.StatusForbidden,
}

// retryAfter is the header value, in seconds, of a refusal that may succeed later.
const retryAfter = "1"

// ServeHTTP answers a request. Requests of the API go to its own router, which keeps escapes within names; others go
// to the mux of net/http.
func (w *web) ServeHTTP(rw http.ResponseWriter, req *http.Request) {
	if !w.knowsHost(req.Host) {
		w.refuseHost(rw, req)
		return
	}
	if err := refuseDelivery(req.Header); err != nil && !isProbe(req.URL.Path) {
		w.refuse(rw, publicError(err))
		return
	}
	r, name, allow := theRouter.match(req.Method, req.URL.EscapedPath())
	switch {
	case r != nil:
		w.serveRoute(rw, req, r, name)
	case allow != nil:
		rw.Header().Set("Allow", strings.Join(allow, ", "))
		w.refuse(rw, &client.Error{
			Code: codeMethodNotAllowed, Status: http.StatusMethodNotAllowed,
			Message: fmt.Sprintf("%s is no method of this path; want %s", clip(strings.ToValidUTF8(req.Method, "")), strings.Join(allow, ", ")),
		})
	default:
		w.sends.guard(w.plain, rw, req)
	}
}

// isProbe reports whether a path shows only the health of the process. A job may call it.
func isProbe(path string) bool { return path == "/healthz" || path == "/readyz" }

func (w *web) serveRoute(rw http.ResponseWriter, req *http.Request, r *route, name string) {
	if w.isForeign(rw, req) {
		return
	}
	if r.verb == "" || r.verb == "status" {
		w.serveLocal(rw, req, r)
		return
	}
	s := w.service()
	if s == nil {
		w.refuse(rw, publicError(errNoService()))
		return
	}
	done, refusal := w.serveVerb(rw, req, s, r, name)
	if refusal != nil {
		w.refuse(rw, refusal)
		return
	}
	defer done.hold.give()
	w.answer(rw, req, done.reply, done.text)
}

func errNoService() error {
	return apierr.Errorf(apierr.Unavailable, "", "the node carries no requests out just now: it starts, stops or changes its part; ask again later")
}

func errStandsBy() error {
	return apierr.Errorf(apierr.NotLeader, "", "this node stands by and changes nothing")
}

// serveLocal answers what the node knows by itself, even without a service.
func (w *web) serveLocal(rw http.ResponseWriter, req *http.Request, r *route) {
	c := webCall{route: r}
	if err := c.takeQuery(req.URL.RawQuery); err != nil {
		w.refuse(rw, publicError(err))
		return
	}
	if r.verb == "status" {
		w.status(rw, req)
		return
	}
	body, err := openAPIDocument()
	if err != nil {
		w.opts.Logger.Error("the description of the API was not made", slog.Any("error", err))
		w.refuse(rw, publicError(err))
		return
	}
	w.send(rw, http.StatusOK, body)
}

// serviceTries is how often a request asks for the service: a closed one may have a successor.
const serviceTries = 2

// service returns the present service, with this request counted as in progress; nil if there is none.
func (w *web) service() *Service {
	for range serviceTries {
		if w.opts.Service == nil {
			break
		}
		s := w.opts.Service()
		if s == nil {
			break
		}
		s.underWay.Add(1) // before the check, so that a Close that the check does not see waits for this request
		if !s.isStopped() {
			return s
		}
		s.underWay.Add(-1)
	}
	return nil
}

// serveVerb carries out a request like one that came over NATS, and returns the reply to be sent.
func (w *web) serveVerb(rw http.ResponseWriter, req *http.Request, s *Service, r *route, name string) (outcome, *client.Error) {
	defer s.underWay.Add(-1) // before the reply is sent, so that a caller who does not read it cannot delay the Close of the service
	begun := time.Now()
	ctx := s.trace(context.Background(), r.verb, "http", req.Header.Get)
	c, done, err := w.ask(ctx, rw, req, s, r, name)
	s.endTrace(ctx, c.tenantIfRead(), err)
	var refusal *client.Error
	code := apierr.Code("")
	if err != nil {
		refusal = w.replyError(s, err, c)
		code = apierr.Code(refusal.Code)
	}
	s.stats[r.verb].count(code, overHTTP, time.Since(begun))
	s.stateLagOverHTTP(rw.Header())
	return done, refusal
}

// ask converts an HTTP request into a call and has it carried out.
func (w *web) ask(ctx context.Context, rw http.ResponseWriter, req *http.Request, s *Service, r *route, name string) (c *webCall, done outcome, err error) {
	if s.opts.Standby && r.method != http.MethodGet {
		return nil, done, errStandsBy()
	}
	if c, err = w.callOf(rw, req, r, name); err != nil {
		return c, done, err
	}
	g := s.gateOf(c.verb)
	if err := g.admit(); err != nil {
		return c, done, err
	}
	defer g.leave()
	done, err = s.carryOut(ctx, c.verb, g, c.call)
	return c, done, err
}

// replyError returns the error that the caller receives. A failed condition of a header has a status of its own, and an
// error of a standby names the leader.
func (w *web) replyError(s *Service, err error, c *webCall) *client.Error {
	if e, ok := errors.AsType[*client.Error](err); ok {
		return e
	}
	e := s.replyError(err)
	switch e.Code {
	case client.CodeVersionConflict, client.CodeAlreadyExists:
		if c.conditional {
			e.Status = http.StatusPreconditionFailed
		}
	case client.CodeNotLeader:
		e.Message = w.whoLeads(e.Message)
	}
	return e
}

// whoLeads adds the name of the leader to a message, if this node knows it.
func (w *web) whoLeads(message string) string {
	if w.opts.Cluster != nil {
		if c := w.opts.Cluster(); c.Holder != "" && c.Holder != c.Node {
			return fmt.Sprintf("%s; the leader is the node %s", message, c.Holder)
		}
	}
	return message + "; no leader is known just now"
}

// refuse answers with an error.
func (w *web) refuse(rw http.ResponseWriter, e *client.Error) {
	w.send(rw, e.Status, errorBody(e))
}
