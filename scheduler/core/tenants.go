package core

import (
	"github.com/carillon-io/carillon/job"
)

// A tenant has an entry as long as it uses something: a job, or a live run. So tenants come and go, and one that uses
// nothing takes no memory.

// tenantNo is the number of a tenant in memory. A start gives out the numbers anew. 0 means no tenant, as for the live
// runs of jobs that do not exist any more.
type tenantNo uint32

// narrowMax is the last number that fits into a hot row. Jobs of tenants beyond it have their numbers in a map, so
// that a row needs no more than two bytes in an installation with fewer tenants.
const narrowMax = 1<<16 - 1

// tenant is what a tenant uses, and what it may use.
type tenant struct {
	name string
	no   tenantNo
	hash job.TenantHash // of the name
	jobs int
	// bytes is the sum over the jobs of the lengths of their encoded definitions, as far as they are counted: see
	// count.go.
	bytes int64
	// ticks and manual count the live runs by origin, once the core leads. Runs of deleted jobs count too.
	ticks, manual int
	// stored is the number of live runs of its jobs in the store that was loaded, until the core leads: other shards count by it
	// as long as they hear of no leader of this one. It is not counted with one shard.
	stored    int
	quota     Quota
	elsewhere Quota // what it uses in other shards
	touched   bool  // in tenants.touched
	unsaved   bool  // in tenants.unsaved
}

// live returns the number of live runs.
func (t *tenant) live() int64 { return int64(t.ticks + t.manual) }

// liveEverywhere returns the number of live runs in all shards, as far as it is known.
func (t *tenant) liveEverywhere() int64 { return t.live() + t.elsewhere.LiveRuns }

// isIdle reports whether a tenant uses nothing.
func (t *tenant) isIdle() bool { return t.jobs == 0 && t.bytes == 0 && t.ticks == 0 && t.manual == 0 }

// tenants holds the tenants that use something.
//
// Invariant: jobs counts the jobs by their tenants, and bytes their definitions; ticks and manual count the live runs,
// once the core leads.
type tenants struct {
	byName map[string]*tenant
	list   []*tenant // by number; list[0] stands for no tenant, and nil for a number that is free
	free   []tenantNo
	wide   map[job.ID]tenantNo // of jobs whose tenants have numbers beyond narrowMax
	narrow tenantNo            // narrowMax; a field so that tests can lower it
	last   *tenant             // found last: the rows of names are in the order of tenants
	manual int                 // live runs of all tenants that callers started

	touched []*tenant // whose use changed in this step
	unsaved []*tenant // whose bytes changed in the commit being built
	saving  int       // upper bound for the rows of unsaved
	unit    []charge  // what the unit being built has added to bytes

	quotas *Quotas
	count  byteCount
}

// charge is a change of the bytes of a tenant.
type charge struct {
	tenant *tenant
	bytes  int64
}

func newTenants() tenants {
	return tenants{
		byName: make(map[string]*tenant), list: []*tenant{{}}, wide: make(map[job.ID]tenantNo), narrow: narrowMax,
		count: byteCount{upto: allCounted},
	}
}

// find returns a tenant by name; nil if it uses nothing.
func (x *tenants) find(name string) *tenant {
	if x.last != nil && x.last.name == name {
		return x.last
	}
	t := x.byName[name]
	if t != nil {
		x.last = t
	}
	return t
}

// of returns a tenant by name, and adds it if it is not known. The caller must then count something for it.
func (x *tenants) of(name string) *tenant {
	if t := x.find(name); t != nil {
		return t
	}
	t := &tenant{name: name, hash: job.HashTenant(name), quota: x.quotas.Of(name), elsewhere: x.quotas.Elsewhere(name)}
	if k := len(x.free); k > 0 {
		t.no, x.free = x.free[k-1], x.free[:k-1]
		x.list[t.no] = t
	} else {
		t.no = tenantNo(len(x.list))
		x.list = append(x.list, t)
	}
	x.byName[name], x.last = t, t
	return t
}

// at returns the tenant with a number, which must be in use or 0.
func (x *tenants) at(no tenantNo) *tenant { return x.list[no] }

// ofJob returns the number of the tenant of a job; 0 if its name is not loaded yet.
func (x *tenants) ofJob(r *hotRow) tenantNo {
	if r.tenant == 0 && len(x.wide) > 0 {
		return x.wide[r.id]
	}
	return tenantNo(r.tenant)
}

// addJob counts a job, which has no tenant yet.
func (x *tenants) addJob(r *hotRow, t *tenant) {
	if t.no <= x.narrow {
		r.tenant = uint16(t.no)
	} else {
		x.wide[r.id] = t.no
	}
	t.jobs++
	x.touch(t)
}

// dropJob counts a job less. The row keeps its tenant until it is released.
func (x *tenants) dropJob(t *tenant) {
	t.jobs--
	x.touch(t)
}

// forget removes what is kept of a job beside its row.
func (x *tenants) forget(id job.ID) {
	if len(x.wide) > 0 {
		delete(x.wide, id)
	}
}

// addRun adds n, which may be negative, to the count of live runs like live.
func (x *tenants) addRun(live liveRun, n int) {
	t := x.list[live.tenant]
	if live.byHand {
		t.manual += n
		x.manual += n
	} else {
		t.ticks += n
	}
	x.touch(t)
}

// countStored counts the live runs of a store that was loaded by the tenants of their jobs.
func (c *Core) countStored() {
	for id, live := range c.live {
		if r := c.rows.row(live.seat); r.id == id.Job {
			t := c.tenantOf(r)
			t.stored++
			c.tenants.touch(t)
		}
	}
}

// dropStored forgets what was counted of the store, as the core begins to count by itself.
func (x *tenants) dropStored() {
	for _, t := range x.byName {
		if t.stored != 0 {
			t.stored = 0
			x.touch(t)
		}
	}
}

// touch records that the use of a tenant changed.
func (x *tenants) touch(t *tenant) {
	if !t.touched && t.no != 0 {
		t.touched = true
		x.touched = append(x.touched, t)
	}
}

// settle forgets the tenants that use nothing any more, and appends to list what has changed since the last call. It is
// called between two steps, so a number is not given to another tenant while anything refers to it.
func (x *tenants) settle(list []TenantUse) []TenantUse {
	for _, t := range x.touched {
		t.touched = false
		list = append(list, TenantUse{Tenant: t.name, Use: Quota{Jobs: int64(t.jobs), Bytes: t.bytes, LiveRuns: t.live() + int64(t.stored)}})
		if !t.isIdle() || t.unsaved {
			continue
		}
		delete(x.byName, t.name)
		x.list[t.no] = nil
		x.free = append(x.free, t.no)
		if x.last == t {
			x.last = nil
		}
	}
	clear(x.touched)
	x.touched = x.touched[:0]
	return list
}

// tenantOf returns the tenant of a job; the one with number 0 if it is not known yet.
func (c *Core) tenantOf(r *hotRow) *tenant { return c.tenants.at(c.tenants.ofJob(r)) }
