package job

import (
	"encoding/binary"
	"fmt"
	"hash/fnv"

	"github.com/carillon-io/carillon/instant"
)

// TenantHash stands for a tenant in the keys of rows that are listed by tenant. Tenants
// with the same hash share a range of keys, so a reader must compare the tenant itself, and name no row of another one.
// Two bytes keep the keys short; with 65,536 values a collision costs a reader some rows to pass over.
type TenantHash uint16

// HashTenant returns the hash of a tenant. It is the lower half of FNV-1a, and the same on every machine.
func HashTenant(tenant string) TenantHash {
	h := fnv.New32a()
	_, _ = h.Write([]byte(tenant)) // never fails
	return TenantHash(h.Sum32())
}

// deadKeyBytes is the length of a key of KindDead.
const deadKeyBytes = 1 + 4 + 2 + 8 + 8 + 4

// AppendDeadDay appends the prefix of a tenant's dead runs that were scheduled on a day.
func AppendDeadDay(b []byte, day uint32, tenant TenantHash) []byte {
	b = binary.BigEndian.AppendUint32(append(b, byte(KindDead)), day)
	return binary.BigEndian.AppendUint16(b, uint16(tenant))
}

// AppendDeadKey appends the key by which a dead run is found by its tenant, newest scheduled time first. Unlike in
// the history, the scheduled time comes before the job: the list of a tenant's dead runs is in the order of time,
// over all its jobs.
func AppendDeadKey(b []byte, tenant TenantHash, r RunID) []byte {
	return AppendDeadPlace(AppendDeadDay(b, Day(r.At), tenant), r)
}

// AppendDeadPlace appends the place of a run in the list of dead runs of a tenant, of all days: newest scheduled time first. The key
// of its row begins with the day, by which the buckets are sorted in the store, oldest first; a list goes through them the other way.
func AppendDeadPlace(b []byte, r RunID) []byte {
	b = binary.BigEndian.AppendUint64(b, ^uint64(r.At))
	b = binary.BigEndian.AppendUint64(b, uint64(r.Job))
	return binary.BigEndian.AppendUint32(b, ^r.Seq)
}

// ParseDeadKey parses a key that AppendDeadKey made.
func ParseDeadKey(key []byte) (RunID, error) {
	if len(key) != deadKeyBytes {
		return RunID{}, fmt.Errorf("job: key of a dead run of %d bytes, want %d", len(key), deadKeyBytes)
	}
	k := key[7:]
	return RunID{
		At:  instant.Millis(^binary.BigEndian.Uint64(k)),
		Job: ID(binary.BigEndian.Uint64(k[8:])),
		Seq: ^binary.BigEndian.Uint32(k[16:]),
	}, nil
}

// PutDead adds the row by which a dead run is found by its tenant.
func (b *Batch) PutDead(tenant TenantHash, id RunID) {
	b.key = AppendDeadKey(b.key[:0], tenant, id)
	b.value = append(b.value[:0], rowVersion)
	b.Put(b.key, b.value)
}

// DeleteDead deletes the row that PutDead added.
func (b *Batch) DeleteDead(tenant TenantHash, id RunID) {
	b.key = AppendDeadKey(b.key[:0], tenant, id)
	b.Delete(b.key)
}
