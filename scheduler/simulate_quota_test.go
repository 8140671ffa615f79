package scheduler

import (
	"fmt"
	"math/rand/v2"

	"github.com/carillon-io/carillon/job"
)

// Quotas: in some worlds the tenants have some, which change while jobs tick. They are drawn from random numbers of
// their own, so that worlds without quotas are as they were.

// simQuotas draws the quotas of a world.
type simQuotas struct {
	rng *rand.Rand // nil: no tenant has one, ever
	// elsewhere draws what other shards have of a tenant. The model knows only what is left for this one.
	elsewhere *rand.Rand
	now       *Quotas // as the engine gets them in each step, unless its release knows none
	// model is the same for the model
	model map[string]modelQuota
}

// drawsQuotas reports whether the tenants of a plan have quotas.
func (p *simPlan) drawsQuotas() bool {
	return p.kind != "year" && rand.New(rand.NewPCG(p.seed, 11)).IntN(3) == 0
}

// beginQuotas lets the quotas change now and then.
func (w *world) beginQuotas() {
	if !w.plan.drawsQuotas() {
		return
	}
	w.quotas.rng, w.quotas.elsewhere = rand.New(rand.NewPCG(w.plan.seed, 12)), rand.New(rand.NewPCG(w.plan.seed, 13))
	w.changeQuotas()
	w.again(40*w.plan.pause.Milliseconds(), w.changeQuotas)
}

// changeQuotas draws other quotas: of each tenant some parts, about as large as what it would use.
func (w *world) changeQuotas() {
	rng := w.quotas.rng
	most := w.plan.jobs/simTenants + 2
	now, elsewhere, model := make(map[string]Quota), make(map[string]Quota), make(map[string]modelQuota)
	for n := range simTenants {
		var q modelQuota
		if rng.IntN(3) > 0 {
			q.jobs = int64(most/3 + rng.IntN(most))
		}
		if rng.IntN(3) > 0 {
			q.bytes = int64(most/3+rng.IntN(most)) * 300
		}
		if rng.IntN(3) > 0 {
			q.live = int64(1 + rng.IntN(10))
		}
		tenant := fmt.Sprint("tenant-", n)
		now[tenant], model[tenant] = Quota{Jobs: q.jobs, Bytes: q.bytes, LiveRuns: q.live}, q
		if w.quotas.elsewhere.IntN(2) == 0 {
			elsewhere[tenant] = w.drawElsewhere()
			now[tenant] = withUse(now[tenant], elsewhere[tenant])
		}
	}
	w.quotas.now, w.quotas.model = NewQuotas(now).With(elsewhere), model
	w.tellQuotas()
}

// drawElsewhere draws what other shards have of a tenant.
func (w *world) drawElsewhere() Quota {
	rng := w.quotas.elsewhere
	return Quota{Jobs: rng.Int64N(20), Bytes: rng.Int64N(10_000), LiveRuns: rng.Int64N(20)}
}

// withUse returns a quota of which as much is left as another one allows beside a use. What has no bound has none.
func withUse(left, use Quota) Quota {
	q := left.Add(use)
	if left.Jobs == 0 {
		q.Jobs = 0
	}
	if left.Bytes == 0 {
		q.Bytes = 0
	}
	if left.LiveRuns == 0 {
		q.LiveRuns = 0
	}
	return q
}

// tellQuotas lets the model know which quotas are in force.
func (w *world) tellQuotas() {
	if w.releases.old {
		w.model.changeQuotas(w.wall(), nil)
		return
	}
	w.model.changeQuotas(w.wall(), w.quotas.model)
}

// quotasNow returns the quotas in force.
func (w *world) quotasNow() *Quotas {
	if w.releases.old {
		return nil
	}
	return w.quotas.now
}

// fill gives a definition a payload, so that definitions are of different sizes.
func (w *world) fill(d *modelDef) {
	if w.quotas.rng != nil {
		d.payload = w.quotas.rng.IntN(400)
	}
}

// sizeOf returns what a definition counts for its tenant's bytes.
func (w *world) sizeOf(name string, d *modelDef) int64 {
	return int64(job.DefinitionBytes(w.definition(name, d)))
}

// checkUses compares what the engine counts for each tenant with what the model and the store have.
func (w *world) checkUses() {
	if err := w.engine.core.CheckBytes(w.store); err != nil {
		w.model.fail("quota", nil, "%v", err)
	}
	if err := w.engine.core.CheckIndex(w.store); err != nil {
		w.model.fail("index", nil, "%v", err)
	}
	for n := range simTenants {
		tenant := fmt.Sprint("tenant-", n)
		got := w.engine.gauge.uses[tenant]
		w.model.checkUse(tenant, modelQuota{got.Jobs, got.Bytes, got.LiveRuns})
	}
}
