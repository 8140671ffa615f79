package scheduler

import (
	"hash/maphash"

	"github.com/carillon-io/carillon/job"
	"github.com/carillon-io/carillon/scheduler/core"
)

// nameHasher computes hashes under random seeds, so that a client cannot choose names that collide. The seeds differ
// from process to process, so these hashes are never stored. The hash of the tenant is: it is the same everywhere.
type nameHasher struct{ a, b maphash.Seed }

func newNameHasher() nameHasher {
	return nameHasher{a: maphash.MakeSeed(), b: maphash.MakeSeed()}
}

func (h nameHasher) hash(tenant, name string) core.NameHash {
	type key struct{ tenant, name string }
	k := key{tenant, name}
	return core.NameHash{
		High: maphash.Comparable(h.a, k), Low: uint32(maphash.Comparable(h.b, k)),
		Tenant: job.HashTenant(tenant),
	}
}
