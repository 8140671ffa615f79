package scheduler

import (
	"hash/maphash"

	"github.com/carillon-io/carillon/job"
)

// nameHasher computes hashes under random seeds, so that a client cannot choose names that collide.
type nameHasher struct{ a, b maphash.Seed }

func newNameHasher() nameHasher {
	return nameHasher{a: maphash.MakeSeed(), b: maphash.MakeSeed()}
}

func (h nameHasher) hash(tenant, name string) nameHash {
	type key struct{ tenant, name string }
	k := key{tenant, name}
	return nameHash{
		high: maphash.Comparable(h.a, k), low: uint32(maphash.Comparable(h.b, k)),
		tenant: job.HashTenant(tenant),
	}
}
