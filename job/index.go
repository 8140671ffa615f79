package job

import (
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"math"
)

// Two kinds of row find the jobs that a list asks for, so that it need not read all of them: KindLabel by a label, in
// the order of names, and KindTrait by what the hot row says, in the order of ids. They are derived from the other
// rows of a job, and are in the commit that writes those. docs/adr/0054-jobs-are-found-by-an-index.md says why.

// RowsVersionOfIndex is the version of the rows that find jobs. A node that does not read it would leave rows behind
// that lie.
const RowsVersionOfIndex = rowVersion7

// LabelHash stands for a label of a job of a tenant in the keys of rows. Labels with the same hash share a range of
// keys, so a reader must compare tenant and labels of each job that it finds.
type LabelHash uint64

// HashLabel returns the hash of a label: the first 8 bytes of the SHA-256 digest of tenant, key and value, with a zero
// byte between them. It is the same on every machine. With a weaker hash, the labels of one tenant could be chosen to
// fill the range of another's.
func HashLabel(tenant string, label Pair) LabelHash {
	var b [2 * slotTextBytes]byte
	text := append(append(append(b[:0], tenant...), 0), label.Key...)
	text = append(append(text, 0), label.Value...)
	digest := sha256.Sum256(text)
	return LabelHash(binary.BigEndian.Uint64(digest[:]))
}

// LabelHashes returns the hashes of the labels of a definition; nil if it has none.
func LabelHashes(d *Definition) []LabelHash {
	if len(d.Labels) == 0 {
		return nil
	}
	list := make([]LabelHash, len(d.Labels))
	for i, p := range d.Labels {
		list[i] = HashLabel(d.Tenant, p)
	}
	return list
}

// AppendLabelKey appends the key by which a job is found by a label. The jobs with a label are one range of keys, in
// the order of names; an empty name gives its prefix.
func AppendLabelKey(b []byte, label LabelHash, name string) []byte {
	return append(binary.BigEndian.AppendUint64(append(b, byte(KindLabel)), uint64(label)), name...)
}

// labelHeadBytes is the length of a key of KindLabel before the name.
const labelHeadBytes = 1 + 8

// ParseLabelKey parses a key that AppendLabelKey made.
func ParseLabelKey(key []byte) (LabelHash, string, error) {
	if len(key) <= labelHeadBytes {
		return 0, "", fmt.Errorf("job: key of a label of %d bytes is too short", len(key))
	}
	return LabelHash(binary.BigEndian.Uint64(key[1:])), string(key[labelHeadBytes:]), nil
}

// Trait is what the hot row of a job says, and by which the job is found. Jobs without any, which are most, have no
// row for it.
type Trait byte

// The traits. Zero is none; the numbers are on disk.
const (
	TraitPaused    Trait = iota + 1
	TraitCompleted       // its row says so; its last run may still be to come
	TraitFailed
	TraitDead // the run that ended last is dead
	traitEnd
)

// StateTrait returns the trait of the state of a job with these bits; 0 for an active one.
func (f TimerFlags) StateTrait() Trait {
	switch {
	case f.Is(FlagFailed):
		return TraitFailed
	case f.Is(FlagCompleted):
		return TraitCompleted
	case f.Is(FlagPaused):
		return TraitPaused
	default:
		return 0
	}
}

// String returns the word of the API for a trait.
func (t Trait) String() string {
	switch t {
	case TraitPaused:
		return "paused"
	case TraitCompleted:
		return "completed"
	case TraitFailed:
		return "failed"
	case TraitDead:
		return "last_run_failed"
	default:
		return fmt.Sprintf("trait %d", byte(t))
	}
}

// AppendTraits appends the prefix of the keys of a tenant's jobs with a trait.
func AppendTraits(b []byte, tenant TenantHash, t Trait) []byte {
	return append(binary.BigEndian.AppendUint16(append(b, byte(KindTrait)), uint16(tenant)), byte(t))
}

// AppendTraitKey appends the key by which a job is found by a trait.
func AppendTraitKey(b []byte, tenant TenantHash, t Trait, id ID) []byte {
	return binary.BigEndian.AppendUint64(AppendTraits(b, tenant, t), uint64(id))
}

// traitKeyBytes is the length of a key of KindTrait.
const traitKeyBytes = 1 + 2 + 1 + 8

// ParseTraitKey parses a key that AppendTraitKey made.
func ParseTraitKey(key []byte) (t Trait, id ID, err error) {
	if len(key) != traitKeyBytes || key[3] == 0 || key[3] >= byte(traitEnd) {
		return 0, 0, fmt.Errorf("job: %x is no key of a trait", key)
	}
	return Trait(key[3]), ID(binary.BigEndian.Uint64(key[4:])), nil
}

// PutLabel adds the row by which a job is found by a label.
func (b *Batch) PutLabel(label LabelHash, name string) {
	b.key = AppendLabelKey(b.key[:0], label, name)
	b.value = append(b.value[:0], RowsVersionOfIndex)
	b.Put(b.key, b.value)
}

// DeleteLabel deletes the row that PutLabel added.
func (b *Batch) DeleteLabel(label LabelHash, name string) {
	b.key = AppendLabelKey(b.key[:0], label, name)
	b.Delete(b.key)
}

// PutTrait adds the row by which a job is found by a trait.
func (b *Batch) PutTrait(tenant TenantHash, t Trait, id ID) {
	b.key = AppendTraitKey(b.key[:0], tenant, t, id)
	b.value = append(b.value[:0], RowsVersionOfIndex)
	b.Put(b.key, b.value)
}

// DeleteTrait deletes the row that PutTrait added.
func (b *Batch) DeleteTrait(tenant TenantHash, t Trait, id ID) {
	b.key = AppendTraitKey(b.key[:0], tenant, t, id)
	b.Delete(b.key)
}

// MetaIndexed is the name of the meta row with the first job that is not in the index. Without the row, no job is. It sorts
// after the row with the version of the rows, so that an earlier release meets that one first, and says what is wrong.
const MetaIndexed = "rows_indexed"

// IndexedAll is the number of MetaIndexed when every job is in the index. It is after every id.
const IndexedAll = ID(math.MaxUint64)

// PutIndexed records that the jobs before next are in the index. The row has a version of its own, so that a build
// that would not keep the index up to date refuses the batch, and later the store, before it changes anything.
func (b *Batch) PutIndexed(next ID) {
	b.key = AppendMetaKey(b.key[:0], MetaIndexed)
	b.value = binary.AppendUvarint(append(b.value[:0], RowsVersionOfIndex), uint64(next))
	b.Put(b.key, b.value)
}
