package oidc

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"slices"
	"strings"

	"github.com/go-json-experiment/json"

	"github.com/carillon-io/carillon/job"
)

// discoveryPath is where an issuer describes itself (OpenID Connect Discovery 1.0).
const discoveryPath = "/.well-known/openid-configuration"

// addresses are those of an issuer.
type addresses struct {
	Issuer    string   `json:"issuer"`
	Authorize string   `json:"authorization_endpoint"`
	Token     string   `json:"token_endpoint"`
	Keys      string   `json:"jwks_uri"`
	Auth      []string `json:"token_endpoint_auth_methods_supported"`
	Scopes    []string `json:"scopes_supported"`
}

// scopes returns what is asked for besides an identity: what the issuer offers. Some refuse a scope that they do not know.
func (a *addresses) scopes() string {
	scopes := "openid"
	for _, one := range []string{"profile", "email", "groups"} {
		if slices.Contains(a.Scopes, one) {
			scopes += " " + one
		}
	}
	return scopes
}

// postsSecret reports whether the secret of the client belongs into the form, and not into a header.
func (a *addresses) postsSecret() bool {
	return len(a.Auth) > 0 && !slices.Contains(a.Auth, "client_secret_basic")
}

// discover asks the issuer for its addresses. One that calls itself otherwise is refused: its tokens would be those of
// another issuer.
func (i *Issuer) discover(ctx context.Context) (*addresses, error) {
	text, err := i.get(ctx, strings.TrimSuffix(i.config.Issuer, "/")+discoveryPath)
	if err != nil {
		return nil, err
	}
	a := new(addresses)
	if json.Unmarshal(text, a) != nil {
		return nil, errors.New("its description is no JSON object")
	}
	if a.Issuer != i.config.Issuer {
		return nil, fmt.Errorf("it calls itself %.200q, and the file of rights %.200q; want the same, also in a slash at the end", a.Issuer, i.config.Issuer)
	}
	for _, one := range []string{a.Authorize, a.Token, a.Keys} {
		if !isSecure(one) {
			return nil, errors.New("its description lacks an address, or has one without https")
		}
	}
	return a, nil
}

// isSecure reports whether a URL is one of https, or of this machine.
func isSecure(text string) bool {
	u, err := url.Parse(text)
	return err == nil && u.Host != "" && u.User == nil && (u.Scheme == "https" || u.Scheme == "http" && job.IsThisMachine(u.Hostname()))
}
