package oidc

import (
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/carillon-io/carillon/access"
	"github.com/carillon-io/carillon/oidc/oidctest"
)

// clock is a clock that stands still until it is moved. Safe for concurrent use.
type clock struct {
	mu  sync.Mutex
	now time.Time
}

func (c *clock) read() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.now
}

func (c *clock) move(by time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.now = c.now.Add(by)
}

// world is an issuer, and this server as its client.
type world struct {
	*oidctest.Issuer
	t      *testing.T
	clock  *clock
	client *Issuer
}

// configOf returns what a file of rights says of an issuer.
func configOf(issuer string) access.OIDC {
	return access.OIDC{Issuer: issuer, ClientID: oidctest.ClientID, GroupsClaim: "groups", NameClaim: "sub"}
}

func newWorld(t *testing.T) *world {
	t.Helper()
	w := &world{Issuer: oidctest.Start(t), t: t, clock: &clock{now: time.Now()}}
	w.client = newIssuer(configOf(w.URL), w.clock.read)
	t.Cleanup(w.client.http.CloseIdleConnections)
	return w
}

// accepts checks that a token is good.
func (w *world) accepts(what, token string) Person {
	w.t.Helper()
	p, err := w.client.Verify(w.t.Context(), token)
	if err != nil {
		w.t.Errorf("%s: %v", what, err)
	}
	return p
}

// refuses checks that a token is not good, and why.
func (w *world) refuses(what, token, why string) {
	w.t.Helper()
	p, err := w.client.Verify(w.t.Context(), token)
	if err == nil || !strings.Contains(err.Error(), why) {
		w.t.Errorf("%s: %+v, %v; want the refusal %q", what, p, err, why)
	}
	if err != nil && len(err.Error()) > 600 {
		w.t.Errorf("%s: the refusal has %d bytes", what, len(err.Error()))
	}
}
