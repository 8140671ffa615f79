package web

import (
	"context"
	"net/http"

	"github.com/carillon-io/carillon/api"
	"github.com/carillon-io/carillon/client"
)

type readerKey struct{}

// reader is what a page's context has of its reader.
type reader struct {
	req     *http.Request
	problem *client.Error // why the reader is to sign in; nil: for no fault
}

// withReader returns the request of a page with what the Desk needs to recognize its reader.
func withReader(req *http.Request, problem *client.Error) *http.Request {
	return req.WithContext(context.WithValue(req.Context(), readerKey{}, &reader{req, problem}))
}

// requestOf returns the request of a page; nil if there is none. Its sender is recognized again for each thing that the
// page asks for, because a live page stays open for minutes, and must not show what its reader may see no longer.
func requestOf(ctx context.Context) *http.Request {
	if r, _ := ctx.Value(readerKey{}).(*reader); r != nil {
		return r.req
	}
	return nil
}

// Reader returns who reads a page, as the audit log names them ("" for an unknown reader, and on a server without rights), whether
// they can sign out, and what they may do: may answers for a verb in a tenant.
func (d *Desk) Reader(ctx context.Context) (name string, signedIn bool, may func(verb, tenant string) bool) {
	rights, req := d.web.opts.Access, requestOf(ctx)
	who := d.web.recognize(req)
	return who.By(), req != nil && hasSession(req), func(verb, tenant string) bool { return rights.May(who, tenant, verb) }
}

// Authorize returns why the reader of a page may not use a verb in a tenant, as a [*client.Error]; nil if they may.
func (d *Desk) Authorize(ctx context.Context, verb, tenant string) error {
	rights, who := d.web.opts.Access, d.web.recognize(requestOf(ctx))
	return publicly(rights.Authorize(who, tenant, verb))
}

// Spend counts the request for a page, or its action, against the rate of a tenant.
func (d *Desk) Spend(ctx context.Context, tenant string) error {
	rights, who := d.web.opts.Access, d.web.recognize(requestOf(ctx))
	return publicly(rights.SpendAny(who, tenant))
}

// publicly returns an error as a reader gets it; nil for nil.
func publicly(err error) error {
	if err == nil {
		return nil
	}
	return api.PublicError(err)
}

// Tenants returns the tenants in which the reader of a page has a role, and whether that is so in all of them: then the
// names are those that the file of rights lists, and others may exist.
func (d *Desk) Tenants(ctx context.Context) (names []string, all bool) {
	table := d.web.opts.Access.Table()
	if table == nil {
		return nil, true
	}
	if names, all = d.web.recognize(requestOf(ctx)).Tenants(); all {
		return table.TenantNames(), true
	}
	return names, false
}

// PartyOf returns the tenant by which the places of streams are shared: those that the file of rights does not list are
// one.
func (d *Desk) PartyOf(tenant string) string { return d.web.opts.Access.PartyOf(tenant) }

// SignIn returns what the page to sign in shows: why the reader is there, nil if for no fault, and whether an issuer can
// be asked who they are.
func (d *Desk) SignIn(ctx context.Context) (problem error, hasIssuer bool) {
	if r, _ := ctx.Value(readerKey{}).(*reader); r != nil && r.problem != nil {
		problem = r.problem
	}
	return problem, d.web.opts.Access.Table().OIDC().Issuer != ""
}
