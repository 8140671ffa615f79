package access

import (
	"log/slog"
	"sync"
	"time"

	"github.com/carillon-io/carillon/apierr"
	"github.com/carillon-io/carillon/job"
)

// Authorize decides whether a caller may use a verb in a tenant; see [Verbs]. The error says the verb and the tenant, and
// nothing of what there is. A nil Keeper permits everything.
func (k *Keeper) Authorize(w Who, tenant, verb string) error {
	if k.May(w, tenant, verb) {
		return nil
	}
	return k.deny(w, tenant, verb)
}

// May reports whether a caller may use a verb in a tenant, for what a reply shows. It logs and counts nothing.
func (k *Keeper) May(w Who, tenant, verb string) bool {
	switch {
	case k == nil:
		return w.isWithin(verb)
	case w.Tenant != "":
		n := needs[verb]
		return (w.Tenant == tenant || n.anywhere || n.known) && concernsTenant(verb)
	}
	return w.Can(verb, tenant)
}

// Sees reports whether a caller has a role in a tenant. With a nil Keeper every caller has all of them, within its bound.
func (k *Keeper) Sees(w Who, tenant string, as Role) bool {
	if k == nil {
		return w.Most == nil || as <= *w.Most
	}
	return w.Tenant != "" && w.Tenant == tenant || w.RoleIn(tenant) >= as
}

// deny counts and logs a refusal, and returns it. A nil Keeper refuses what is beyond the bound of a caller.
func (k *Keeper) deny(w Who, tenant, verb string) error {
	if k != nil && w.Principal == nil && w.Tenant == "" {
		k.denied.count(&k.denied.unknown)
		if w.Refusal != "" {
			return apierr.Errorf(apierr.Unauthenticated, "", "%s", w.Refusal)
		}
		return apierr.Errorf(apierr.Unauthenticated, "", "the request has no credentials that this server knows; want a token, over HTTP as the header Authorization: Bearer <token>")
	}
	if k != nil && k.denied.count(&k.denied.forbidden) {
		k.logger.Warn("a request was refused for want of rights", slog.String("by", w.By()), slog.String("verb", verb), slog.String(job.LogTenant, tenant))
	}
	if !concernsTenant(verb) || tenant == "" {
		return apierr.Errorf(apierr.Forbidden, "", "%s may not use %s, which concerns all tenants", w.By(), verb)
	}
	return apierr.Errorf(apierr.Forbidden, "", "%s may not use %s in the tenant %s", w.By(), verb, tenant)
}

// denials count the refusals, and bound how many of them are logged: a caller can make any number.
type denials struct {
	mu                 sync.Mutex
	unknown, forbidden uint64
	logins             uint64    // clients of the embedded NATS server
	second             time.Time // in which logged counts
	logged             int
}

// deniedPerSecond is how many refusals are logged in a second.
const deniedPerSecond = 10

// count counts a refusal, and reports whether it may be logged.
func (d *denials) count(kind *uint64) bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	*kind++
	if now := time.Now().Truncate(time.Second); now != d.second {
		d.second, d.logged = now, 0
	}
	d.logged++
	return d.logged <= deniedPerSecond
}

// RefuseLogin counts a client of the embedded NATS server that was not admitted. It does nothing for a nil Keeper.
func (k *Keeper) RefuseLogin() {
	if k == nil {
		return
	}
	k.denied.mu.Lock()
	defer k.denied.mu.Unlock()
	k.denied.logins++
}

// Denied returns how many requests were refused since the start: those of callers without known credentials, and those of
// known callers without the right; and how many clients of the embedded NATS server. It returns zeros for a nil Keeper.
func (k *Keeper) Denied() (unknown, forbidden, logins uint64) {
	if k == nil {
		return 0, 0, 0
	}
	k.denied.mu.Lock()
	defer k.denied.mu.Unlock()
	return k.denied.unknown, k.denied.forbidden, k.denied.logins
}
