package scheduler

import (
	"slices"

	"github.com/carillon-io/carillon/scheduler/core"
)

// NewQuotas returns quotas by the names of tenants. It leaves out those that bound nothing.
func NewQuotas(byTenant map[string]Quota) *Quotas { return core.NewQuotas(byTenant) }

// quotas returns the quotas in force; nil if there are none.
func (e *Engine) quotas() *Quotas {
	if e.opts.Quotas == nil {
		return nil
	}
	return e.opts.Quotas()
}

// TenantQuota is the quota of a tenant, and what the tenant uses of it.
type TenantQuota struct {
	Tenant string
	Limit  Quota // 0: no bound
	Use    Quota // of this engine, as of the last step; LiveRuns is 0 while the engine stands by
	// Elsewhere is what the tenant uses in other shards of the cluster, as far as it is known.
	Elsewhere Quota
}

// Whole returns what the tenant uses in all shards.
func (t TenantQuota) Whole() Quota { return t.Use.Add(t.Elsewhere) }

// TenantQuotas returns the tenants that have a quota, in the order of their names. It is safe for concurrent use, and
// does not wait for a step.
func (e *Engine) TenantQuotas() []TenantQuota {
	q := e.quotas()
	names := q.Tenants()
	list := make([]TenantQuota, 0, len(names))
	e.gauge.mu.Lock()
	defer e.gauge.mu.Unlock()
	for _, name := range names {
		list = append(list, TenantQuota{Tenant: name, Limit: q.Of(name), Use: e.gauge.uses[name], Elsewhere: q.Elsewhere(name)})
	}
	return list
}

// TenantsWithJobs returns the tenants with jobs that f selects, in the order of their names; only the first ones if there are
// more than most. f must be fast, and must not call the engine. It is safe for concurrent use, and does not wait for a step.
// An engine that stands by knows them too.
func (e *Engine) TenantsWithJobs(most int, f func(tenant string) bool) (names []string) {
	e.gauge.mu.Lock()
	for name, use := range e.gauge.uses {
		if use.Jobs > 0 && f(name) {
			names = append(names, name)
		}
	}
	e.gauge.mu.Unlock()
	slices.Sort(names)
	return names[:min(len(names), most)]
}

// noteUses takes what has changed of the use of tenants. The caller must hold the lock.
func (g *gauge) noteUses(list []core.TenantUse) {
	if g.uses == nil {
		g.uses = make(map[string]Quota)
	}
	for _, u := range list {
		if u.Use == (Quota{}) {
			delete(g.uses, u.Tenant)
			continue
		}
		g.uses[u.Tenant] = u.Use
	}
}

// countSome counts further definitions after a step, if a leader of an earlier release has left no valid sums.
func (e *Engine) countSome() error {
	if !e.core.IsCounting() {
		return nil
	}
	return e.core.CountSome(e.opts.Store)
}
