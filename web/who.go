package web

import (
	"context"
	"net/http"
	"strings"

	"github.com/carillon-io/carillon/access"
	"github.com/carillon-io/carillon/api"
	"github.com/carillon-io/carillon/certs"
	"github.com/carillon-io/carillon/oidc"
)

// bearer is the scheme of tokens in the header Authorization (RFC 6750).
const bearer = "Bearer"

// recognize returns who sends a request: by the token in its header, else by its client certificate, else by its session.
// A request that shows a token which is unknown has no caller, also with a good certificate: the caller means to be the
// one of the token. It returns the zero value for nil.
func (w *gateway) recognize(req *http.Request) access.Who {
	table := w.opts.Access.Table()
	if table == nil || req == nil {
		return access.Who{}
	}
	if lines := req.Header.Values("Authorization"); len(lines) > 0 {
		scheme, token, _ := strings.Cut(lines[0], " ")
		if len(lines) > 1 || !strings.EqualFold(scheme, bearer) {
			return access.Who{}
		}
		who, _ := w.whoseToken(req.Context(), strings.TrimSpace(token))
		return who
	}
	certificate, err := w.certificate(req)
	who := table.WhoseCertificate(certs.Names(certificate))
	if who.Principal == nil {
		who = w.whoseSession(table, req)
	}
	switch {
	case who.Principal != nil || who.Refusal != "":
	case err != nil:
		who.Refusal = "the client certificate is not accepted: " + err.Error()
	case certificate != nil:
		who.Refusal = "no principal of the file of rights has a name of the client certificate as its cert"
	}
	return who
}

// whoseToken returns the caller who shows a token, of the file of rights or of the issuer, and what a session by it keeps.
// An issuer that cannot be asked has recognized no caller: to the caller the reason is told.
func (w *gateway) whoseToken(ctx context.Context, token string) (access.Who, *identity) {
	table := w.opts.Access.Table()
	if who := table.WhoseToken(token); who.Principal != nil {
		return who, &identity{Token: access.HashToken(token)}
	}
	issuer := w.issuer.Of(table.OIDC())
	if issuer == nil || !oidc.LooksLikeToken(token) {
		return access.Who{}, nil
	}
	person, err := issuer.Verify(ctx, token)
	if err != nil {
		w.logIssuer("a token was not verified", err)
		return access.Who{Refusal: "the token is not accepted: " + oidc.PublicText(err)}, nil
	}
	return table.WhosePerson(person.Name, person.Groups), identityOf(table, person)
}

// refuseUnless answers a request that its caller may not make, and reports whether it did.
func (w *gateway) refuseUnless(rw http.ResponseWriter, err error) (refused bool) {
	if err == nil {
		return false
	}
	w.refuse(rw, api.PublicError(err))
	return true
}
