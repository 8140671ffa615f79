package scheduler

import (
	"hash/maphash"

	"github.com/carillon-io/carillon/job"
)

// tenantHash stands for a tenant where tenants take turns and in the keys of dead runs: see
// [job.TenantHash]. Those whose hashes meet share their turns; nothing else comes of it.
type tenantHash uint16

// nameHash stands for a (tenant, name) in memory, where the text itself is not. 96 bits: among ten
// million names the chance that any two meet is about 10^-15, far below that of a memory error. The
// tenant is no part of it, and comes along for those who take turns.
type nameHash struct {
	high   uint64
	low    uint32
	tenant tenantHash
}

// nameHasher makes hashes under seeds of its own, so that nobody outside can make names that meet.
type nameHasher struct{ a, b maphash.Seed }

// nameHashFunc makes the hash of a name.
type nameHashFunc func(tenant, name string) nameHash

func newNameHasher() nameHasher {
	return nameHasher{a: maphash.MakeSeed(), b: maphash.MakeSeed()}
}

func (h nameHasher) hash(tenant, name string) nameHash {
	type key struct{ tenant, name string }
	k := key{tenant, name}
	return nameHash{
		high: maphash.Comparable(h.a, k), low: uint32(maphash.Comparable(h.b, k)),
		tenant: tenantHash(job.TenantHash(tenant)),
	}
}

// nameIndex finds the slot of a job by the hash of its name: open addressing with linear probing,
// 16 bytes an entry, no pointers. It is cut into shards that grow one by one, so that growing never
// copies more than a small part of it at once.
type nameIndex struct {
	shards [nameShards]nameShard
}

// nameShards is the number of shards. At ten million names one has about 40,000, and doubling it
// takes less than a millisecond.
const nameShards = 256

type nameShard struct {
	entries []nameEntry // a power of two, or empty
	used    int
}

type nameEntry struct {
	high uint64
	low  uint32
	slot slot // 0: free
}

func (x *nameIndex) shard(h nameHash) *nameShard { return &x.shards[h.low%nameShards] }

// find returns the slot of a name, or 0.
func (x *nameIndex) find(h nameHash) slot {
	sh := x.shard(h)
	if sh.used == 0 {
		return 0
	}
	return sh.entries[sh.probe(h)].slot
}

// add records the slot of a name that is not in the index yet.
func (x *nameIndex) add(h nameHash, s slot) {
	sh := x.shard(h)
	if (sh.used+1)*8 > len(sh.entries)*7 {
		sh.grow()
	}
	sh.entries[sh.probe(h)] = nameEntry{h.high, h.low, s}
	sh.used++
}

// remove forgets a name. The entries behind it that probed past its place move up, so that no marks
// of deleted entries pile up.
func (x *nameIndex) remove(h nameHash) {
	sh := x.shard(h)
	if sh.used == 0 {
		return
	}
	mask := uint64(len(sh.entries) - 1)
	hole := sh.probe(h)
	if sh.entries[hole].slot == 0 {
		return
	}
	sh.used--
	for i := (hole + 1) & mask; sh.entries[i].slot != 0; i = (i + 1) & mask {
		home := sh.entries[i].high & mask
		if (i-home)&mask >= (i-hole)&mask {
			sh.entries[hole] = sh.entries[i]
			hole = i
		}
	}
	sh.entries[hole] = nameEntry{}
}

// probe returns the place of a name, or the free place where it would go.
func (sh *nameShard) probe(h nameHash) uint64 {
	mask := uint64(len(sh.entries) - 1)
	i := h.high & mask
	for {
		e := &sh.entries[i]
		if e.slot == 0 || e.high == h.high && e.low == h.low {
			return i
		}
		i = (i + 1) & mask
	}
}

func (sh *nameShard) grow() {
	old := sh.entries
	sh.entries = make([]nameEntry, max(8, 2*len(old)))
	for _, e := range old {
		if e.slot != 0 {
			sh.entries[sh.probe(nameHash{high: e.high, low: e.low})] = e
		}
	}
}
