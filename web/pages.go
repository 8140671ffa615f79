package web

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"strings"

	"github.com/carillon-io/carillon/access"
	"github.com/carillon-io/carillon/api"
	"github.com/carillon-io/carillon/client"
	"github.com/carillon-io/carillon/job"
)

// pagesFrom is the origin of a request by a page in the audit log. It differs from that of the API over HTTP, so that
// an operator sees which changes were made by hand on a page.
const pagesFrom = "dashboard"

// withPages serves all remaining paths with the handler of Options.Pages. If that can be closed, it is closed when
// the server is shut down. The pages get what the mux would answer as unknown; health, metrics and the API keep their
// paths whatever the pages have. A cross-origin request that changes something is refused before it reaches a page.
func (w *gateway) withPages(server *http.Server) {
	w.pages = w.opts.Pages(&Desk{web: w})
	if c, ok := w.pages.(io.Closer); ok {
		server.RegisterOnShutdown(func() { _ = c.Close() })
	}
	plain := w.plain
	w.plain = http.HandlerFunc(func(rw http.ResponseWriter, req *http.Request) {
		if !isForPages(req.URL.Path) {
			plain.ServeHTTP(rw, req)
			return
		}
		if !w.isForeign(rw, req) && !w.serveSignIn(rw, req) {
			w.servePage(rw, req)
		}
	})
}

// servePage shows a page to a reader who may see the status, and the files of pages and the page about the API to all.
func (w *gateway) servePage(rw http.ResponseWriter, req *http.Request) {
	err := w.opts.Access.AuthorizeStatus(w.recognize(req))
	if err != nil && isOpen(req.URL.Path) {
		err = nil
	}
	switch {
	case err == nil:
		w.pages.ServeHTTP(rw, withReader(req, nil))
	case w.signsIn() && wantsPage(req):
		w.turnAway(rw, req, api.PublicError(err))
	default:
		w.refuseUnless(rw, err)
	}
}

// assetsRoot is the prefix of the files of pages, such as their style. They are the same for all. referencePath is that
// of the page about the API.
const (
	assetsRoot    = "/assets/"
	referencePath = "/docs"
)

// isOpen reports whether everybody may see a path: what it shows is the same on every server.
func isOpen(path string) bool { return path == referencePath || strings.HasPrefix(path, assetsRoot) }

// isForPages reports whether a page may have a path. Paths of the API that do not exist must answer a program with
// JSON, not with a page.
func isForPages(path string) bool {
	switch path {
	case "/healthz", "/readyz", "/metrics", "/api":
		return false
	}
	return !strings.HasPrefix(path, "/api/")
}

// isForeign refuses a request that comes from another site and could change something. It reports whether it refused.
// The server has no credentials of its own: a browser inside a closed network would otherwise carry out what any site
// on the Internet asks of it. Programs that are no browsers send neither of the headers that the check reads, and
// pass; but not with a session, which only browsers have.
func (w *gateway) isForeign(rw http.ResponseWriter, req *http.Request) bool {
	message := "a page of another site may change nothing here; want the request from this site, or from no browser"
	if w.origins.Check(req) == nil {
		if isRead(req) || req.Header.Get("Origin") != "" || req.Header.Get("Sec-Fetch-Site") != "" || !hasSession(req) {
			return false
		}
		message = "a change in a session needs the header Origin or Sec-Fetch-Site, as browsers send it; a program wants the header Authorization and no session"
	}
	w.refuse(rw, &client.Error{Code: api.CodeCrossOrigin, Status: http.StatusForbidden, Message: message})
	return true
}

// isRead reports whether a request only reads.
func isRead(req *http.Request) bool {
	return req.Method == http.MethodGet || req.Method == http.MethodHead
}

// Desk carries out the requests of pages, with the executor of the moment, and says who their reader is. It implements
// [client.Local]; the gates, bounds and counters are those of all requests. It is the only way from a page to a change,
// so a page can do no more than the API.
type Desk struct{ web *gateway }

var _ client.Local = (*Desk)(nil)

// Ask implements [client.Local]. A change is carried out to its end even if the browser goes away, because its effect
// must not depend on how long a page stays open. The room of the reply is freed at once, before the page is written.
func (p *Desk) Ask(ctx context.Context, tenant, name, by string, body []byte) ([]byte, error) {
	v := api.VerbNamed(name)
	if v == nil {
		return nil, api.PublicError(fmt.Errorf("the verb %q is unknown", name))
	}
	who := p.web.recognize(requestOf(ctx))
	// The only verb that a node answers without an executor.
	if name == "status" {
		return p.status(who)
	}
	x := p.web.executor()
	if x == nil {
		return nil, api.PublicError(errNoService())
	}
	defer x.Leave()
	// A page of a standby shows what that node has, and says by how much it lags; what it changes goes to the leader.
	q := api.Request{Tenant: tenant, Asker: job.Actor{By: by, From: pagesFrom}, Who: who, Body: body, MayLag: true}
	reply, refusal := x.FromPage(context.WithoutCancel(ctx), v, q)
	reply.Release()
	if refusal != nil {
		return nil, p.web.refusalOf(refusal, false)
	}
	return reply.Text, nil
}

// status returns what the node knows by itself, even without a service. It needs no executor, like the status over
// HTTP, so that the pages show a node that is joining.
func (p *Desk) status(who access.Who) ([]byte, error) {
	if err := p.web.opts.Access.AuthorizeStatus(who); err != nil {
		return nil, api.PublicError(err)
	}
	return api.Encode(p.web.info())
}
