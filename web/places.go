package web

import (
	"sync"

	"github.com/carillon-io/carillon/apierr"
	"github.com/carillon-io/carillon/fair"
)

// places bound the requests whose bodies are read at a time, and their bytes, and share both among tenants. Use newPlaces.
// Safe for concurrent use. A refused request costs nothing: its body is not read. A gate of the executor cannot do this,
// because it is asked when the request has been read; a body that arrives slowly would hold no place while it fills memory.
type places struct {
	bytesMax int64

	mu      sync.Mutex
	shares  fair.Shares[string]
	bytes   int64 // of all bodies that are read
	bytesBy map[string]int64
}

func newPlaces(most int, bytesMax int64) *places {
	return &places{bytesMax: bytesMax, shares: fair.NewShares[string](most), bytesBy: make(map[string]int64)}
}

// take takes a place for a request of a tenant with a body of at most so many bytes, or refuses it. It never blocks.
func (p *places) take(tenant string, bytes int64) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	if !p.hasBytesLocked(tenant, bytes) {
		return apierr.Errorf(apierr.RateLimited, "", "bodies of %d bytes are read now, %d of them those of your tenant, and the limit is %d for all tenants; ask again later",
			p.bytes, p.bytesBy[tenant], p.bytesMax)
	}
	if !p.shares.Take(tenant) {
		return apierr.Errorf(apierr.RateLimited, "", "the bodies of %d requests of this kind are read now, %d of them those of your tenant, which is as many as it may have now; ask again later",
			p.shares.Taken(), p.shares.Held(tenant))
	}
	p.bytes += bytes
	p.bytesBy[tenant] += bytes
	return nil
}

// hasBytesLocked reports whether there is room for the bytes of a body. A tenant may hold three times as many as stay free,
// and always one body if there is room.
func (p *places) hasBytesLocked(tenant string, bytes int64) bool {
	held, free := p.bytesBy[tenant], p.bytesMax-p.bytes-bytes
	return free >= 0 && (held == 0 || held+bytes <= 3*free)
}

// free frees what take has taken.
func (p *places) free(tenant string, bytes int64) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.shares.Free(tenant)
	p.bytes -= bytes
	if p.bytesBy[tenant] -= bytes; p.bytesBy[tenant] == 0 {
		delete(p.bytesBy, tenant)
	}
}
