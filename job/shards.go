package job

import (
	"fmt"
	"math/bits"
)

// ShardsMax is the largest number of shards of a cluster: each has at least one slot.
const ShardsMax = Slots

// ValidateShards returns an error if a cluster cannot have so many shards. The number is a power of two, so that all
// shards have equally many slots.
func ValidateShards(n int) error {
	if n < 1 || n > ShardsMax || bits.OnesCount(uint(n)) != 1 {
		return fmt.Errorf("%d shards; want a power of two from 1 to %d", n, ShardsMax)
	}
	return nil
}

// ShardOf returns the shard that has a slot, in a cluster of so many shards, which [ValidateShards] accepts. Each shard
// has a range of slots, in the order of their numbers: of four shards, shard 1 has the slots 64 to 127.
func ShardOf(s Slot, shards int) uint32 { return uint32(int(s) * shards / Slots) }

// SlotsOf returns the first and the last slot of a shard; it is the inverse of [ShardOf].
func SlotsOf(shard uint32, shards int) (first, last Slot) {
	width := Slots / shards
	begin := int(shard) * width
	return Slot(begin), Slot(begin + width - 1)
}
