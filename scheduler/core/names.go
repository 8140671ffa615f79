package core

import (
	"github.com/carillon-io/carillon/job"
)

// NameHash stands for a (tenant, name) in memory, which does not hold the text. It has 96 bits: among ten million
// names the probability of a collision is about 10^-15, far below that of a memory error. The hash of the tenant is
// kept beside it, for serving tenants in turn.
type NameHash struct {
	High   uint64
	Low    uint32
	Tenant job.TenantHash
}

// Hasher computes the hashes of a core, under secret seeds. Equal texts must have equal hashes for as long as the core
// lives. It is safe for concurrent use.
type Hasher interface {
	// Name returns the hash of a name.
	Name(tenant, name string) NameHash
	// Text returns the hash of a text, without a tenant in it. The text of a name is the tenant, a zero byte and the
	// name, and has the hash of the name. It does not keep the text.
	Text(text []byte) NameHash
}

// useHasher sets the hashes of an empty core.
func (c *Core) useHasher(h Hasher) {
	c.hash, c.text, c.profiles.hash = h.Name, h.Text, h.Text
}

// nameIndex finds the seat of a job by the hash of its name, by open addressing with linear probing. An entry has 16
// bytes and no pointers. The index is divided into buckets that grow one by one, so that growing never copies more
// than a small part of it at once. A map of Go would need more bytes for each entry.
type nameIndex struct {
	shards [nameBuckets]nameBucket
}

// nameBuckets is the number of buckets. At ten million names a bucket has about 40,000, and doubling it takes less
// than a millisecond.
const nameBuckets = 256

// nameBucket is a part of the index. Its entries are at most seven eighths full, so that a search ends after a few
// steps.
type nameBucket struct {
	entries []nameEntry // its length is a power of two, or 0
	used    int
}

// nameEntry has the part of the hash that a search compares. The tenant's hash is not in it: the row has that.
type nameEntry struct {
	high uint64
	low  uint32
	seat seat // 0: free
}

// shard returns the bucket of a hash. It depends on Low, and the place within the bucket on High, so that the names of
// a bucket spread over all its places.
func (x *nameIndex) shard(h NameHash) *nameBucket { return &x.shards[h.Low%nameBuckets] }

// find returns the seat of a name, or 0.
func (x *nameIndex) find(h NameHash) seat {
	sh := x.shard(h)
	if sh.used == 0 {
		return 0
	}
	return sh.entries[sh.probe(h)].seat
}

// add records the seat of a name. The name must not be in the index.
func (x *nameIndex) add(h NameHash, s seat) {
	sh := x.shard(h)
	if (sh.used+1)*8 > len(sh.entries)*7 {
		sh.grow()
	}
	sh.entries[sh.probe(h)] = nameEntry{h.High, h.Low, s}
	sh.used++
}

// Names are added one by one in the order of their hashes, which is none: each of ten million would wait for memory. So a
// start stages them: it appends each to its bucket, and places the names of one bucket after those of another, each time
// in memory that the caches of a core hold.

// reserve makes room for names in a part, one of placeParts, of an empty index that is to have n, so that no bucket grows while
// they are staged, or few do. It writes to the memory, as touchedPage does.
func (x *nameIndex) reserve(part, n int) {
	each := n/nameBuckets + n/nameBuckets/16 // a bucket differs from the average by less than a sixteenth, if it is large
	size := 8
	for each*8 > size*7 {
		size *= 2
	}
	const parts = nameBuckets / placeParts
	for i := part * parts; i < (part+1)*parts; i++ {
		entries := make([]nameEntry, size)
		for at := 0; at < size; at += systemPageBytes / 16 {
			entries[at] = nameEntry{}
		}
		x.shards[i].entries = entries
	}
}

// stage adds a name like add, but it is found only after placeStaged. Until then, no other method may be called, except
// stage.
func (x *nameIndex) stage(h NameHash, s seat) {
	sh := x.shard(h)
	if (sh.used+1)*8 > len(sh.entries)*7 {
		sh.entries = append(sh.entries, make([]nameEntry, max(8, len(sh.entries)))...)
	}
	sh.entries[sh.used] = nameEntry{h.High, h.Low, s}
	sh.used++
}

// placeParts is the number of parts in which staged names are placed.
const placeParts = 8

// placeStaged puts the staged names of a part, one of placeParts, where find looks for them. The parts have nothing in
// common, so they may be placed at the same time. Of two entries with one hash the later one is kept.
func (x *nameIndex) placeStaged(part int) {
	const each = nameBuckets / placeParts
	var staged []nameEntry
	for i := range x.shards[part*each : (part+1)*each] {
		sh := &x.shards[part*each+i]
		staged = append(staged[:0], sh.entries[:sh.used]...)
		clear(sh.entries[:sh.used])
		for _, e := range staged {
			place := &sh.entries[sh.probe(NameHash{High: e.high, Low: e.low})]
			if place.seat != 0 {
				sh.used--
			}
			*place = e
		}
	}
}

// len returns the number of entries.
func (x *nameIndex) len() (n int) {
	for i := range x.shards {
		n += x.shards[i].used
	}
	return n
}

// remove deletes a name. Entries behind it that probed past its place move up, so that no marks of deleted entries
// accumulate. The move is Algorithm R of Knuth: see the package comment.
func (x *nameIndex) remove(h NameHash) {
	sh := x.shard(h)
	if sh.used == 0 {
		return
	}
	mask := uint64(len(sh.entries) - 1)
	hole := sh.probe(h)
	if sh.entries[hole].seat == 0 {
		return
	}
	sh.used--
	for i := (hole + 1) & mask; sh.entries[i].seat != 0; i = (i + 1) & mask {
		home := sh.entries[i].high & mask
		if (i-home)&mask >= (i-hole)&mask {
			sh.entries[hole] = sh.entries[i]
			hole = i
		}
	}
	sh.entries[hole] = nameEntry{}
}

// probe returns the place of a name, or the free place where it belongs.
func (sh *nameBucket) probe(h NameHash) uint64 {
	mask := uint64(len(sh.entries) - 1)
	i := h.High & mask
	for {
		e := &sh.entries[i]
		if e.seat == 0 || e.high == h.High && e.low == h.Low {
			return i
		}
		i = (i + 1) & mask
	}
}

// grow doubles a bucket. It never shrinks: its memory serves the names that come next.
func (sh *nameBucket) grow() {
	old := sh.entries
	sh.entries = make([]nameEntry, max(8, 2*len(old)))
	for _, e := range old {
		if e.seat != 0 {
			sh.entries[sh.probe(NameHash{High: e.high, Low: e.low})] = e
		}
	}
}
