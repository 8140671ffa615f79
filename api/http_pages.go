package api

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/go-json-experiment/json"

	"github.com/carillon-io/carillon/apierr"
	"github.com/carillon-io/carillon/client"
	"github.com/carillon-io/carillon/job"
)

// pagesFrom is the origin of a request by a page in the audit log.
const pagesFrom = "dashboard"

// withPages serves all remaining paths with the handler of HTTPOptions.Pages. If that can be closed, it is closed
// when the server is shut down.
func (w *web) withPages(server *http.Server) {
	pages := w.opts.Pages(&pageAsker{web: w})
	if c, ok := pages.(io.Closer); ok {
		server.RegisterOnShutdown(func() { _ = c.Close() })
	}
	plain := w.plain
	w.plain = http.HandlerFunc(func(rw http.ResponseWriter, req *http.Request) {
		if !isForPages(req.URL.Path) {
			plain.ServeHTTP(rw, req)
			return
		}
		if w.isForeign(rw, req) {
			return
		}
		pages.ServeHTTP(rw, req)
	})
}

// isForPages reports whether a page may have a path.
func isForPages(path string) bool {
	switch path {
	case "/healthz", "/readyz", "/metrics", "/api":
		return false
	}
	return !strings.HasPrefix(path, "/api/")
}

// isForeign refuses a request that comes from another site and could change something. It reports whether it refused.
func (w *web) isForeign(rw http.ResponseWriter, req *http.Request) bool {
	if w.origins.Check(req) == nil {
		return false
	}
	w.refuse(rw, &client.Error{
		Code: codeCrossOrigin, Status: http.StatusForbidden,
		Message: "a page of another site may change nothing here; want the request from this site, or from no browser",
	})
	return true
}

// pageAsker carries out the requests of pages, with the service of the moment. It implements [client.Local]; the
// gates, bounds and counters are those of all requests.
type pageAsker struct{ web *web }

var _ client.Local = (*pageAsker)(nil)

// Ask implements [client.Local].
func (p *pageAsker) Ask(ctx context.Context, tenant, name, by string, body []byte) ([]byte, error) {
	v := verbsByName[name]
	if v == nil {
		return nil, publicError(fmt.Errorf("the verb %q is unknown", name))
	}
	if name == "status" {
		return p.status()
	}
	s := p.web.service()
	if s == nil {
		return nil, publicError(errNoService())
	}
	defer s.underWay.Add(-1)
	begun := time.Now()
	reply, err := s.askForPage(context.WithoutCancel(ctx), v, call{tenant: tenant, asker: job.Actor{By: by, From: pagesFrom}, body: body})
	if err == nil {
		s.stats[v.name].count("", overHTTP, time.Since(begun))
		return reply, nil
	}
	replyError := p.web.replyError(s, err, &webCall{})
	s.stats[v.name].count(apierr.Code(replyError.Code), overHTTP, time.Since(begun))
	return nil, replyError
}

// status returns what the node knows by itself, even without a service.
func (p *pageAsker) status() ([]byte, error) {
	return json.Marshal(p.web.info(), encoding)
}

// askForPage carries out a request like one that came over NATS. Reads are not traced, because a live page reads
// every second.
func (s *Service) askForPage(ctx context.Context, v *verb, c call) (text []byte, err error) {
	if !onlyReads(v.name) {
		if s.opts.Standby {
			return nil, errStandsBy()
		}
		ctx = s.trace(ctx, v.name, "http", nil)
		defer func() { s.endTrace(ctx, c.tenant, err) }()
	}
	if err := c.asker.Validate(); err != nil {
		return nil, err
	}
	if err := job.ValidateTenant(c.tenant); err != nil {
		return nil, err
	}
	g := s.gateOf(v)
	if err := g.admit(); err != nil {
		return nil, err
	}
	defer g.leave()
	done, err := s.carryOut(ctx, v, g, c)
	done.hold.give()
	return done.text, err
}

// onlyReads reports whether a verb changes nothing: over HTTP it is then a GET.
func onlyReads(verb string) bool {
	return slices.ContainsFunc(routes, func(r route) bool { return r.verb == verb && r.method == http.MethodGet })
}
