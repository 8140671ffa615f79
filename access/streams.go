package access

import (
	"sync"

	"github.com/carillon-io/carillon/apierr"
)

// streams count the open streams of tenants with a quota of them. The zero value is ready. Safe for concurrent use.
type streams struct {
	mu   sync.Mutex
	open map[string]int64 // by tenant, without zeros
}

// OpenStream counts a stream of a tenant, or refuses it with the code quota_exceeded. The caller calls done when the
// stream has ended, once. A nil Keeper permits any number. A stream that is open stays so when the quota becomes smaller.
func (k *Keeper) OpenStream(tenant string) (done func(), err error) {
	if k == nil {
		return func() {}, nil
	}
	most := k.Tenant(tenant).Quota.Streams
	s := &k.streams
	s.mu.Lock()
	defer s.mu.Unlock()
	if most > 0 && s.open[tenant] >= most {
		return nil, apierr.Errorf(apierr.QuotaExceeded, "", "the tenant %s has %d open streams, and its quota of streams is %d; close some", tenant, s.open[tenant], most)
	}
	if s.open == nil {
		s.open = make(map[string]int64)
	}
	s.open[tenant]++
	return func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		if s.open[tenant]--; s.open[tenant] == 0 {
			delete(s.open, tenant)
		}
	}, nil
}

func (s *streams) of(tenant string) int64 {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.open[tenant]
}
