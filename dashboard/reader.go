package dashboard

import (
	"context"
	"net"
	"net/http"
	"slices"

	"github.com/carillon-io/carillon/client"
	"github.com/carillon-io/carillon/job"
)

// Rights says who reads a page, by its context. Its methods are safe for concurrent use.
type Rights interface {
	// Reader returns the name of who reads a page, "" for an unknown reader; whether they can sign out; and what they may do.
	Reader(ctx context.Context) (name string, signedIn bool, may func(verb, tenant string) bool)
	// Authorize returns a [*client.Error] if who reads a page may not use a verb in a tenant.
	Authorize(ctx context.Context, verb, tenant string) error
	// Spend counts a request against the rate of a tenant, and returns a [*client.Error] if that is used up.
	Spend(ctx context.Context, tenant string) error
	// Tenants returns the tenants that the reader may see, sorted; all says that they may see others too.
	Tenants(ctx context.Context) (names []string, all bool)
	// PartyOf returns the tenant by which the places of streams are shared, which is the same for all that are not listed.
	PartyOf(tenant string) string
	// SignIn returns why the reader has to sign in, nil if for no fault, and whether an issuer of identities can be asked.
	SignIn(ctx context.Context) (problem error, hasIssuer bool)
}

// reader is who reads a page. The zero value may do everything.
type reader struct {
	Name     string
	SignedIn bool
	// Tenants is empty on a server without rights; then the reader types the name of a tenant.
	Tenants []string
	All     bool // other tenants may be typed too

	rights func(verb, tenant string) bool // nil: everything
}

// readerOf returns the reader of the page of a context.
func (d *Dashboard) readerOf(ctx context.Context) (r reader) {
	if d.opts.Rights == nil {
		return reader{All: true}
	}
	r.Name, r.SignedIn, r.rights = d.opts.Rights.Reader(ctx)
	r.Tenants, r.All = d.opts.Rights.Tenants(ctx)
	return r
}

// may reports whether the reader may use a verb in a tenant. It only decides what a page offers: the server asks again.
func (r *reader) may(verb, tenant string) bool { return r.rights == nil || r.rights(verb, tenant) }

// firstTenant returns the tenant of a visit that names none; "" for the default one.
func (r *reader) firstTenant() string {
	if r.All || len(r.Tenants) == 0 || slices.Contains(r.Tenants, tenantDefault) {
		return ""
	}
	return r.Tenants[0]
}

// Offers reports whether a tenant is among those that the reader chooses from.
func (r reader) Offers(tenant string) bool { return slices.Contains(r.Tenants, tenant) }

// isKnown reports whether the reader is a known principal, or need not be.
func (r *reader) isKnown() bool { return r.rights == nil || r.Name != "" }

// hasRole reports whether the reader has a role in a tenant.
func (r *reader) hasRole(tenant string) bool { return r.All || r.Offers(tenant) }

// signInPath is the path of the page on which a reader shows who they are. The server answers its form.
const signInPath = "/sign-in"

// signInBody is the content of the page to sign in.
type signInBody struct {
	Next      string // address of the page that comes next
	HasIssuer bool
	// IsPlain says that the browser will not keep a session: the connection can be read on its way.
	IsPlain bool
}

// signIn returns the page to sign in. It is called for each reader, known or not.
func (v *visit) signIn() view {
	if v.dashboard.opts.Rights == nil {
		return failed(refusal(client.CodeNotFound, http.StatusNotFound, "this server has no sign-in, because it has no file of rights (--auth)"))
	}
	body := &signInBody{Next: v.query.Get("next"), IsPlain: isPlain(v.req)}
	p := view{page: "sign-in", title: "Sign in", active: signInPath, body: body}
	p.err, body.HasIssuer = v.dashboard.opts.Rights.SignIn(v.req.Context())
	return p
}

// isPlain reports whether a browser has a connection without TLS to another machine, as far as the server can see.
func isPlain(req *http.Request) bool {
	if req.TLS != nil || req.Header.Get("X-Forwarded-Proto") == "https" {
		return false
	}
	host, _, err := net.SplitHostPort(req.Host)
	if err != nil {
		host = req.Host
	}
	return !job.IsThisMachine(host)
}
