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
// the server is shut down. The pages get every path that is not of health, metrics and the API.
func (w *gateway) withPages(server *http.Server) {
	w.pages = w.opts.Pages(&Desk{web: w})
	if c, ok := w.pages.(io.Closer); ok {
		server.RegisterOnShutdown(func() { _ = c.Close() })
	}
}

// servePage shows a page to a reader who may see the status, and the files of pages and the page about the API to all.
func (w *gateway) servePage(rw http.ResponseWriter, req *http.Request) {
	err := w.opts.Access.Authorize(w.recognize(req), "", "status")
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

// isOpen reports whether every caller may see a path: what it shows is the same on every server.
func isOpen(path string) bool { return path == referencePath || strings.HasPrefix(path, assetsRoot) }

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
		return p.status(ctx, who)
	}
	x := p.web.executor()
	if x == nil {
		return nil, api.PublicError(p.web.errNoService(true))
	}
	defer x.Leave()
	// A page of a standby shows what that node has, and says by how much it lags; what it changes goes to the leader.
	q := api.Request{Tenant: tenant, Asker: job.Actor{By: by, From: pagesFrom}, Who: who, Body: body, Lag: new(api.Lag)}
	reply, refusal := x.FromPage(context.WithoutCancel(ctx), v, q)
	reply.Release()
	if refusal != nil {
		return nil, p.web.refusalOf(refusal, false)
	}
	return reply.Text, nil
}

// status returns what the node knows by itself, even without a service. It needs no executor, like the status over
// HTTP, so that the pages show a node that is joining.
func (p *Desk) status(ctx context.Context, who access.Who) ([]byte, error) {
	if err := p.web.opts.Access.Authorize(who, "", "status"); err != nil {
		return nil, api.PublicError(err)
	}
	if text, ok := p.web.statusOfAll(ctx, pagesFrom, who, nil); ok {
		return text, nil
	}
	return api.Encode(p.web.info(who))
}
