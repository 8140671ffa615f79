package api

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"strings"
	"time"

	"github.com/carillon-io/carillon/client"
	"github.com/carillon-io/carillon/job"
)

// The codes that only HTTP has.
const (
	codeMethodNotAllowed     client.Code = "method_not_allowed"
	codeUnsupportedMediaType client.Code = "unsupported_media_type"
	codeUnknownHost          client.Code = "unknown_host"
	codeCrossOrigin          client.Code = "cross_origin"
)

// statusOfHTTP is the status of each of them.
var statusOfHTTP = map[client.Code]int{
	codeMethodNotAllowed: http.StatusMethodNotAllowed, codeUnsupportedMediaType: http.StatusUnsupportedMediaType,
	codeUnknownHost: http.StatusMisdirectedRequest, codeCrossOrigin: http.StatusForbidden,
}

// retryAfter is what a refusal says that another time may not meet, in seconds.
const retryAfter = "1"

// ServeHTTP answers a request: of the API by its own router, which keeps escapes in names apart, and any
// other by the usual one.
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

// isProbe reports whether a path is one that shows nothing but the health of the process. A job may watch it.
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
	return job.Errorf(job.CodeUnavailable, "", "the node carries no requests out just now: it starts, stops or changes its part; ask again later")
}

func errStandsBy() error {
	return job.Errorf(job.CodeNotLeader, "", "this node stands by and changes nothing")
}

// serveLocal answers what the node knows by itself, even while it has no service.
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

// serviceTries is how often a request looks for a service: one that is closed may have a successor.
const serviceTries = 2

// service returns the present service with this request under way in it; nil if there is none.
func (w *web) service() *Service {
	for range serviceTries {
		if w.opts.Service == nil {
			break
		}
		s := w.opts.Service()
		if s == nil {
			break
		}
		s.underWay.Add(1) // before the look, so that a Close that this does not see waits
		if !s.isStopped() {
			return s
		}
		s.underWay.Add(-1)
	}
	return nil
}

// serveVerb carries a request out as one that came over NATS, and returns what is to be sent.
func (w *web) serveVerb(rw http.ResponseWriter, req *http.Request, s *Service, r *route, name string) (outcome, *client.Error) {
	defer s.underWay.Add(-1) // before the reply is sent: a caller who does not read holds no service up
	begun := time.Now()
	ctx := s.follow(context.Background(), r.verb, "http", req.Header.Get)
	c, done, err := w.ask(ctx, rw, req, s, r, name)
	s.unfollow(ctx, c.tenantIfRead(), err)
	var refusal *client.Error
	code := job.Code("")
	if err != nil {
		refusal = w.told(s, err, c)
		code = job.Code(refusal.Code)
	}
	s.stats[r.verb].count(code, overHTTP, time.Since(begun))
	s.stateLagOverHTTP(rw.Header())
	return done, refusal
}

// ask makes a call of a request and has it carried out.
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

// told returns what a caller is told of an error. A condition that a header made has its own status, and
// whoever asks the wrong node learns of the right one.
func (w *web) told(s *Service, err error, c *webCall) *client.Error {
	if e, ok := errors.AsType[*client.Error](err); ok {
		return e
	}
	e := s.told(err)
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

// whoLeads adds to a message which node is the leader, if this one knows.
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
