package access

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"sync"
	"time"

	"golang.org/x/time/rate"

	"github.com/carillon-io/carillon/apierr"
)

// rates hold the requests of tenants to the rates of their quotas. The zero value is ready. Safe for concurrent use. Only
// tenants with a rate have a bucket, so the file bounds the memory. A bucket stays when the file is read again; with a
// changed rate it keeps its debt.
type rates struct {
	mu      sync.Mutex
	buckets map[string]*bucket
}

// bucket is the rate of one tenant. limited counts the requests that were refused because of it.
type bucket struct {
	limiter *rate.Limiter
	limited uint64
}

// debtMax bounds the debt of a bucket: a request for many things may take as many as the rate gives in that time, and the
// tenant then waits for as long.
const debtMax = time.Minute

// burstOf returns how many requests may come at once: those of one second.
func burstOf(perSecond float64) int { return max(1, int(math.Ceil(perSecond))) }

// Spend counts n requests of a tenant against its rate, or refuses them with the code rate_limited. More than the bucket
// has are a debt that later requests wait for, so a request for many things is carried out as a whole; only more than the
// rate gives in a minute are refused. A nil Keeper, and a tenant without a rate, spend freely.
func (k *Keeper) Spend(tenant string, n int) error {
	if k == nil {
		return nil
	}
	perSecond := k.Tenant(tenant).Quota.Rate
	if perSecond == 0 || n <= 0 {
		return nil
	}
	return k.rates.spend(tenant, perSecond, n, time.Now())
}

// SpendAny counts a request that concerns no tenant, such as one for the status: against the rate of the given tenant if the
// caller has a role there, else against that of the first tenant where it has one. Callers with a role in all tenants, and
// without any, are not counted.
func (k *Keeper) SpendAny(w Who, tenant string) error {
	names, all := w.Principal.Tenants()
	if all || len(names) == 0 {
		return nil
	}
	if !slices.Contains(names, tenant) {
		tenant = names[0]
	}
	return k.Spend(tenant, 1)
}

func (r *rates) spend(tenant string, perSecond float64, n int, now time.Time) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	b := r.bucketLocked(tenant, perSecond, now)
	burst := burstOf(perSecond)
	most := max(burst, int(perSecond*debtMax.Seconds()))
	switch left := b.limiter.TokensAt(now); {
	case n > most:
		b.limited++
		return apierr.Errorf(apierr.RateLimited, "", "the request counts as %d, and the rate of the tenant %s, %s, permits %d at once; want smaller requests", n, tenant, rateText(perSecond), most)
	case n == 1 && left < 1:
		b.limited++
		e := apierr.Errorf(apierr.RateLimited, "", "the tenant %s has used up its rate of %s%s", tenant, rateText(perSecond), debtText(-left))
		e.RetryAfter = time.Duration((1 - left) / perSecond * float64(time.Second))
		e.Message += fmt.Sprintf("; ask again in %s", e.RetryAfter.Round(time.Millisecond))
		return e
	}
	for n > 0 { // the limiter grants no more than a burst at a time
		some := min(n, burst)
		b.limiter.ReserveN(now, some)
		n -= some
	}
	return nil
}

// rateText returns a rate as the file has it.
func rateText(perSecond float64) string { return strconv.FormatFloat(perSecond, 'g', -1, 64) + "/s" }

// bucketLocked returns the bucket of a tenant with its present rate.
func (r *rates) bucketLocked(tenant string, perSecond float64, now time.Time) *bucket {
	b := r.buckets[tenant]
	switch {
	case b == nil:
		if r.buckets == nil {
			r.buckets = make(map[string]*bucket)
		}
		b = &bucket{limiter: rate.NewLimiter(rate.Limit(perSecond), burstOf(perSecond))}
		r.buckets[tenant] = b
	case b.limiter.Limit() != rate.Limit(perSecond):
		b.limiter.SetLimitAt(now, rate.Limit(perSecond))
		b.limiter.SetBurstAt(now, burstOf(perSecond))
	}
	return b
}

// keep takes the rates of a new table, by which the buckets fill from now on. It drops those of tenants that have no rate any more.
func (r *rates) keep(t *Table, now time.Time) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for tenant := range r.buckets {
		if perSecond := t.Tenant(tenant).Quota.Rate; perSecond > 0 {
			r.bucketLocked(tenant, perSecond, now)
			continue
		}
		delete(r.buckets, tenant)
	}
}

// use returns how many of the requests of a burst a tenant has used up, and how many were refused.
func (r *rates) use(tenant string, perSecond float64, now time.Time) (used float64, limited uint64) {
	r.mu.Lock()
	defer r.mu.Unlock()
	b := r.buckets[tenant]
	if b == nil {
		return 0, 0
	}
	return max(0, float64(burstOf(perSecond))-b.limiter.TokensAt(now)), b.limited
}

// debtText says how many requests a tenant has had beyond its rate; nothing for less than one.
func debtText(debt float64) string {
	if debt = math.Round(debt); debt < 1 {
		return ""
	}
	return fmt.Sprintf(", and %.0f requests beyond it", debt)
}
