package web

import (
	"sync"

	"github.com/carillon-io/carillon/apierr"
	"github.com/carillon-io/carillon/fair"
)

// places bound the requests whose bodies are read at a time, and share them among tenants. Use newPlaces. Safe for
// concurrent use. A refused request costs nothing: its body is not read. A gate of the executor cannot do this, because it
// is asked when the request has been read; a body that arrives slowly would hold no place while it fills memory.
type places struct {
	mu     sync.Mutex
	shares fair.Shares[string]
}

func newPlaces(most int) *places { return &places{shares: fair.NewShares[string](most)} }

// take takes a place for a request of a tenant, or refuses it. It never blocks.
func (p *places) take(tenant string) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.shares.Take(tenant) {
		return nil
	}
	return apierr.Errorf(apierr.RateLimited, "", "the bodies of %d requests of this kind are read now, %d of them those of your tenant, which is as many as it may have now; ask again later",
		p.shares.Taken(), p.shares.Held(tenant))
}

// free frees a place of a tenant.
func (p *places) free(tenant string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.shares.Free(tenant)
}
