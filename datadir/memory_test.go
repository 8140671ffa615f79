package datadir

import "testing"

// TestMemtablesShareTheirMemory: one shard has what a store has by itself, and many have no more than two of those together,
// until the least size of each is reached.
func TestMemtablesShareTheirMemory(t *testing.T) {
	for shards, want := range map[int]int64{0: 16 << 20, 1: 16 << 20, 2: 16 << 20, 4: 8 << 20, 8: 4 << 20, 32: 2 << 20, 256: 2 << 20} {
		if got := memTableBytes(shards); got != want {
			t.Errorf("%d shards: %d bytes, want %d", shards, got, want)
		}
	}
}
