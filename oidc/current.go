package oidc

import (
	"sync"
	"time"

	"github.com/carillon-io/carillon/access"
)

// Current keeps the issuer that the file of rights in force names, with its keys. The zero value is ready. Safe for
// concurrent use.
type Current struct {
	// Now is the clock by which tokens are valid; nil: time.Now. It must not change after the first call.
	Now func() time.Time

	mu     sync.Mutex
	issuer *Issuer
}

// Of returns the issuer of a file of rights; nil if it names none. It is the same as long as the file says the same.
func (c *Current) Of(config access.OIDC) *Issuer {
	if config.Issuer == "" {
		return nil
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.issuer != nil && c.issuer.config == config {
		return c.issuer
	}
	now := c.Now
	if now == nil {
		now = time.Now
	}
	if c.issuer != nil {
		c.issuer.http.CloseIdleConnections()
	}
	c.issuer = newIssuer(config, now)
	return c.issuer
}
