package job

import "crypto/sha256"

// Slot is one of the 256 parts into which the names of jobs are divided by a hash, for ever. A cluster assigns slots
// to its shards, so that the shard of a job follows from its tenant and name, and from its id, which contains the
// slot. How many shards there are, and which has which slots, does not change a slot.
type Slot uint8

// Slots is the number of slots. It bounds the number of shards of a cluster.
const Slots = 1 << slotBits

// slotTextBytes holds the longest tenant, the separator and the longest name, so that SlotOf allocates nothing.
const slotTextBytes = 256

// SlotOf returns the slot of a job's name: the first byte of the SHA-256 digest of the tenant, a zero byte and the
// name. Neither contains a zero byte, so different names have different texts. Ids contain the result, so it must stay
// the same in all releases; docs/format/store.md has examples for other implementations. SHA-256 is in every standard
// library, and spreads any family of names evenly; see docs/adr/0030-ids-carry-slots.md for the alternatives.
func SlotOf(tenant, name string) Slot {
	var b [slotTextBytes]byte
	text := append(append(append(b[:0], tenant...), 0), name...)
	digest := sha256.Sum256(text)
	return Slot(digest[0])
}
