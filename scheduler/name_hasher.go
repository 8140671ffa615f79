package scheduler

import (
	"hash/maphash"

	"github.com/carillon-io/carillon/job"
	"github.com/carillon-io/carillon/scheduler/core"
)

// nameHasher computes hashes under random seeds, so that a client cannot choose names that collide. The seeds differ
// from process to process, so these hashes are never stored. The hash of the tenant is: it is the same everywhere. It
// is a [core.Hasher].
type nameHasher struct{ a, b maphash.Seed }

func newNameHasher() nameHasher {
	return nameHasher{a: maphash.MakeSeed(), b: maphash.MakeSeed()}
}

// nameTextBytes holds the text of the longest name, so that hash allocates nothing.
const nameTextBytes = 256

func (h nameHasher) hash(tenant, name string) core.NameHash {
	var b [nameTextBytes]byte
	hash := h.Text(append(append(append(b[:0], tenant...), 0), name...))
	hash.Tenant = job.HashTenant(tenant)
	return hash
}

// Name implements [core.Hasher].
func (h nameHasher) Name(tenant, name string) core.NameHash { return h.hash(tenant, name) }

// Text implements [core.Hasher].
func (h nameHasher) Text(text []byte) core.NameHash {
	return core.NameHash{High: maphash.Bytes(h.a, text), Low: uint32(maphash.Bytes(h.b, text))}
}
