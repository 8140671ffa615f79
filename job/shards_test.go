package job_test

import (
	"testing"

	"github.com/carillon-io/carillon/job"
)

// TestShardsDivideTheSlots: each slot has one shard, all shards have equally many, and their ranges say which.
func TestShardsDivideTheSlots(t *testing.T) {
	for shards := 1; shards <= job.ShardsMax; shards *= 2 {
		count := make([]int, shards)
		for s := range job.Slots {
			n := job.ShardOf(job.Slot(s), shards)
			first, last := job.SlotsOf(n, shards)
			if job.Slot(s) < first || job.Slot(s) > last {
				t.Fatalf("%d shards: slot %d is of shard %d, which has the slots %d to %d", shards, s, n, first, last)
			}
			count[n]++
		}
		for n, c := range count {
			if c != job.Slots/shards {
				t.Errorf("%d shards: shard %d has %d slots", shards, n, c)
			}
		}
	}
}

// TestNumberOfShards: a cluster has a power of two of shards, at most one for each slot.
func TestNumberOfShards(t *testing.T) {
	for n := -1; n <= 600; n++ {
		isRight := n == 1 || n == 2 || n == 4 || n == 8 || n == 16 || n == 32 || n == 64 || n == 128 || n == 256
		if err := job.ValidateShards(n); (err == nil) != isRight {
			t.Errorf("%d shards: %v", n, err)
		}
	}
}
