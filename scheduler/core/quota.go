package core

import (
	"fmt"
	"maps"
	"slices"

	"github.com/carillon-io/carillon/apierr"
)

// A quota bounds what a tenant uses. The leader decides by it in the step, before anything is written: a proposal that
// would take its tenant beyond the quota is refused, and the tick of a tenant that has its live runs is skipped. So no
// order of proposals within a step or over several steps can take the last place twice. What the leader has decided is
// in the log; a follower applies it and asks for no quota.
//
// Of several shards each counts what it has itself. What the others have comes with the quotas, about a second old, and
// counts as well: so all shards together exceed a quota by no more than what they accept in that time.
//
// The tick of a one-shot is not skipped, because there is no other: it waits in its tenant's line until a run ends, as
// it does for the tenant's share. Missed ticks that are still to be fired wait too. Further attempts of live runs, and
// the runs that were live before the quota was lowered, are not affected.

// Quota bounds what a tenant uses, or says what it uses. As a bound, 0 means none.
type Quota struct {
	Jobs     int64
	Bytes    int64 // sum of the lengths of the encoded definitions of its jobs
	LiveRuns int64 // runs without an outcome
}

// QuotaKind is what a quota bounds. Its text is the key in the file of rights, and the label of the metrics.
type QuotaKind uint8

// What a quota of the core bounds.
const (
	QuotaJobs QuotaKind = iota
	QuotaBytes
	QuotaLiveRuns
	QuotaKinds // number of kinds
)

// String returns the key of the file of rights for a kind.
func (k QuotaKind) String() string { return [QuotaKinds]string{"jobs", "bytes", "live_runs"}[k] }

// Of returns the part of a quota that is of a kind.
func (q Quota) Of(k QuotaKind) int64 { return [QuotaKinds]int64{q.Jobs, q.Bytes, q.LiveRuns}[k] }

// Add returns the sum of two uses.
func (q Quota) Add(r Quota) Quota {
	return Quota{q.Jobs + r.Jobs, q.Bytes + r.Bytes, q.LiveRuns + r.LiveRuns}
}

// Minus returns what a use has more than another one.
func (q Quota) Minus(r Quota) Quota {
	return Quota{q.Jobs - r.Jobs, q.Bytes - r.Bytes, q.LiveRuns - r.LiveRuns}
}

// Quotas are the quotas of tenants, and what the tenants use of them elsewhere: in other shards of the cluster. They never
// change: a change makes new ones. A nil Quotas bounds no tenant.
type Quotas struct {
	byTenant  map[string]Quota
	elsewhere map[string]Quota // no tenant has an entry that is negative
}

// NewQuotas returns quotas by the names of tenants. It leaves out those that bound nothing.
func NewQuotas(byTenant map[string]Quota) *Quotas {
	q := &Quotas{byTenant: maps.Clone(byTenant)}
	maps.DeleteFunc(q.byTenant, func(_ string, q Quota) bool { return q == Quota{} })
	return q
}

// With returns the same quotas for tenants that use elsewhere what is in a map. The map belongs to the result, and must not
// change any more. What tenants use elsewhere counts against their quotas like what they use here.
func (q *Quotas) With(elsewhere map[string]Quota) *Quotas {
	if q == nil {
		return nil
	}
	return &Quotas{q.byTenant, elsewhere}
}

// Elsewhere returns what a tenant uses in other shards, as far as that is known.
func (q *Quotas) Elsewhere(tenant string) Quota {
	if q == nil {
		return Quota{}
	}
	return q.elsewhere[tenant]
}

// Of returns the quota of a tenant; the zero value if it has none.
func (q *Quotas) Of(tenant string) Quota {
	if q == nil {
		return Quota{}
	}
	return q.byTenant[tenant]
}

// Tenants returns the names of the tenants that have a quota, sorted.
func (q *Quotas) Tenants() []string {
	if q == nil {
		return nil
	}
	return slices.Sorted(maps.Keys(q.byTenant))
}

// TenantUse is what a tenant uses of an engine. A tenant that uses nothing has a zero Use.
type TenantUse struct {
	Tenant string
	Use    Quota // LiveRuns is 0 unless the engine leads
}

// takeQuotas makes quotas those in force from this step on. What exceeds them already stays. It visits the tenants of the old
// quotas and of the new ones, and not all that have jobs: in a cluster with several shards quotas change once a second.
func (c *Core) takeQuotas(q *Quotas) {
	old := c.tenants.quotas
	if q == old {
		return
	}
	c.tenants.quotas = q
	for _, some := range []*Quotas{old, q} {
		if some == nil {
			continue
		}
		for name := range some.byTenant {
			if t := c.tenants.byName[name]; t != nil {
				t.quota, t.elsewhere = q.Of(name), q.Elsewhere(name)
			}
		}
	}
}

// checkPut refuses a put that would take its tenant beyond its quota: by a job more, or by more bytes than before. A
// put that adds no byte to a job that exists is never refused.
func (c *Core) checkPut(p *Put, jobs int, bytes int64) error {
	q, has := c.tenants.quotas.Of(p.Tenant), c.tenants.quotas.Elsewhere(p.Tenant)
	if t := c.tenants.find(p.Tenant); t != nil {
		has = has.Add(Quota{Jobs: int64(t.jobs), Bytes: t.bytes})
	}
	switch {
	case q.Jobs > 0 && jobs > 0 && has.Jobs+int64(jobs) > q.Jobs:
		return c.refuse(QuotaJobs, "the tenant %s has %d of %d jobs; delete jobs, or ask for a higher quota", p.Tenant, has.Jobs, q.Jobs)
	case q.Bytes > 0 && bytes > 0 && has.Bytes+bytes > q.Bytes:
		return c.refuse(QuotaBytes, "the definitions of the tenant %s have %d of %d bytes, and this one would add %d; delete jobs, make them smaller, or ask for a higher quota",
			p.Tenant, has.Bytes, q.Bytes, bytes)
	}
	return nil
}

// checkLive refuses n runs that a caller starts, if they would take the tenant beyond its live runs.
func (c *Core) checkLive(t *tenant, n int) error {
	if most := t.quota.LiveRuns; most > 0 && t.liveEverywhere()+int64(n) > most {
		return c.refuse(QuotaLiveRuns, "the tenant %s has %d of %d live runs, and %s; wait until some end, cancel them, or ask for a higher quota",
			t.name, t.liveEverywhere(), most, tooMany(n))
	}
	return nil
}

// tooMany says how many runs a caller wants to start.
func tooMany(n int) string {
	if n == 1 {
		return "the request would start one more"
	}
	return fmt.Sprintf("the request would start %d more", n)
}

func (c *Core) refuse(k QuotaKind, format string, args ...any) error {
	c.counts.RefusedBy[k]++
	return apierr.Errorf(apierr.QuotaExceeded, "", format, args...)
}

// runsOf returns how many of n ticks become runs by the quota.
func (t *tenant) runsOf(n int) int {
	if most := t.quota.LiveRuns; most > 0 {
		return int(min(int64(n), max(0, most-t.liveEverywhere())))
	}
	return n
}

// hasAllRuns reports whether a tenant has as many live runs as its quota allows.
func (t *tenant) hasAllRuns() bool {
	return t.quota.LiveRuns > 0 && t.liveEverywhere() >= t.quota.LiveRuns
}
