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
		if !w.refuseUnless(rw, w.opts.Access.AuthorizeStatus(w.recognize(req))) {
			pages.ServeHTTP(rw, withReader(req))
		}
	})
}

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
// pass.
func (w *gateway) isForeign(rw http.ResponseWriter, req *http.Request) bool {
	if w.origins.Check(req) == nil {
		return false
	}
	w.refuse(rw, &client.Error{
		Code: api.CodeCrossOrigin, Status: http.StatusForbidden,
		Message: "a page of another site may change nothing here; want the request from this site, or from no browser",
	})
	return true
}

// pageAsker carries out the requests of pages, with the executor of the moment. It implements [client.Local]; the
// gates, bounds and counters are those of all requests. It is the only way from a page to a change, so a page can do
// no more than the API.
type pageAsker struct{ web *gateway }

var _ client.Local = (*pageAsker)(nil)

// Ask implements [client.Local]. A change is carried out to its end even if the browser goes away, because its effect
// must not depend on how long a page stays open. The room of the reply is freed at once, before the page is written.
func (p *pageAsker) Ask(ctx context.Context, tenant, name, by string, body []byte) ([]byte, error) {
	v := api.VerbNamed(name)
	if v == nil {
		return nil, api.PublicError(fmt.Errorf("the verb %q is unknown", name))
	}
	who := p.web.readerOf(ctx)
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
func (p *pageAsker) status(who access.Who) ([]byte, error) {
	if err := p.web.opts.Access.AuthorizeStatus(who); err != nil {
		return nil, api.PublicError(err)
	}
	return api.Encode(p.web.info())
}
