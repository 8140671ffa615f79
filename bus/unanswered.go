package bus

import (
	"log/slog"
	"sync"
	"time"

	"golang.org/x/time/rate"

	"github.com/carillon-io/carillon/job"
)

// The NATS server keeps about 400 bytes of each request across accounts until it is answered, its sender leaves, or two to
// four minutes have passed. What a flood is not told for the sake of the processors is kept there as memory.
const (
	// unansweredMax bounds the requests of a tenant that got no answer and may still be kept: 20 MB. Beyond it, those of its
	// clients that send most are disconnected.
	unansweredMax = 50_000
	// unansweredFor is how long one may be kept.
	unansweredFor = 4 * time.Minute
)

// unanswered counts the requests of tenants that get no answer. The zero value has counted none. Safe for concurrent use.
type unanswered struct {
	mu   sync.Mutex
	by   map[string]*rate.Limiter // tokens are places for what may still be kept
	over map[string]bool          // tenants that had none left since the last call of takeOver
}

// note counts a request of a tenant.
func (u *unanswered) note(tenant string, now time.Time) {
	u.mu.Lock()
	defer u.mu.Unlock()
	if u.by == nil {
		u.by, u.over = make(map[string]*rate.Limiter), make(map[string]bool)
	}
	one := u.by[tenant]
	if one == nil {
		one = rate.NewLimiter(rate.Limit(unansweredMax/unansweredFor.Seconds()), unansweredMax)
		u.by[tenant] = one
	}
	if !one.AllowN(now, 1) {
		u.over[tenant] = true
	}
}

// takeOver returns the tenants that have had too many since the last call.
func (u *unanswered) takeOver() (tenants []string) {
	u.mu.Lock()
	defer u.mu.Unlock()
	for tenant := range u.over {
		tenants = append(tenants, tenant)
	}
	clear(u.over)
	return tenants
}

// NoteUnanswered counts a request from the account of a tenant that gets no answer, on purpose. The account "" is Carillon's
// own, whose clients are not bounded. It is safe for concurrent use.
func (b *Bus) NoteUnanswered(account string) {
	if tenant := TenantOf(account); tenant != "" {
		b.unanswered.note(tenant, time.Now())
	}
}

// boundUnanswered disconnects the clients of tenants that sent too many requests which got no answer.
func (w *pendingWatch) boundUnanswered(guests []guestPending) {
	tenants := w.bus.unanswered.takeOver()
	if len(tenants) == 0 {
		return
	}
	var sent askingCount // since the last look
	sent.add(nil, guests)
	for _, tenant := range tenants {
		clients := sent.senders(guests, tenant)
		for _, id := range clients {
			w.bus.doorman.expel(id, tenant, writeMax)
		}
		if len(clients) > 0 {
			w.bus.opts.Logger.Warn("clients of the embedded NATS server were disconnected, because they send requests on and on that are not even refused any more",
				slog.String(job.LogTenant, tenant), slog.Int("clients", len(clients)))
		}
	}
}
