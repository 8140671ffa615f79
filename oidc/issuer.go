package oidc

import (
	"context"
	"net/http"
	"slices"
	"time"

	"github.com/carillon-io/carillon/access"
)

// Person is who a token says its bearer is.
type Person struct {
	Name   string    // of 1 to 120 printable bytes; the claim that the file of rights names
	Groups []string  // as the token has them
	Until  time.Time // when the token expires
}

// Issuer is an issuer of identities. Safe for concurrent use. Nothing is asked of it before it is needed, so a server
// starts while it cannot be reached.
type Issuer struct {
	config access.OIDC
	http   *http.Client
	now    func() time.Time
	ring   keyring
}

// newIssuer returns an issuer.
func newIssuer(config access.OIDC, now func() time.Time) *Issuer {
	i := &Issuer{config: config, http: newHTTP(), now: now}
	i.ring.read, i.ring.now = i.read, now
	return i
}

// read asks the issuer for its addresses and its keys.
func (i *Issuer) read(ctx context.Context) (*addresses, []key, error) {
	at, err := i.discover(ctx)
	if err != nil {
		return nil, nil, err
	}
	text, err := i.get(ctx, at.Keys)
	if err != nil {
		return nil, nil, err
	}
	keys, err := parseKeys(text)
	return at, keys, err
}

// Verify verifies a token, and returns who its bearer is. A [Refusal] says what is wrong with it; an [*UnavailableError] says
// nothing of the token. See [PublicText]. It takes five seconds at most, and waits no longer than ctx.
func (i *Issuer) Verify(ctx context.Context, token string) (Person, error) {
	c, until, err := i.verified(ctx, token)
	if err != nil {
		return Person{}, err
	}
	p, err := c.person(&i.config)
	p.Until = until
	return p, err
}

// errSignature is the refusal of a token that the issuer has not signed.
const errSignature = Refusal("its signature is not that of the issuer")

// verified returns the claims of a token that is good. What a token says of itself is read before its signature is
// verified, so that nothing is asked of the issuer for a token that could not be good; nothing of it is believed.
func (i *Issuer) verified(ctx context.Context, token string) (claims, time.Time, error) {
	s, err := parse(token)
	if err != nil {
		return nil, time.Time{}, err
	}
	c, err := parseClaims(s.claims)
	if err != nil {
		return nil, time.Time{}, err
	}
	until, err := c.check(&i.config, i.now())
	if err != nil {
		return nil, time.Time{}, err
	}
	keys, err := i.ring.find(ctx, s)
	if err != nil {
		return nil, time.Time{}, err
	}
	if !s.isBy(keys) && !s.isBy(i.ring.anew(ctx, s)) {
		return nil, time.Time{}, errSignature
	}
	return c, until, nil
}

// isBy reports whether one of some keys has signed a token.
func (s *signed) isBy(keys []key) bool {
	return slices.ContainsFunc(keys, func(k key) bool { return s.alg.verify(&s.alg, k.public, s.content, s.signature) })
}
