package history

import (
	"crypto/sha256"
	"fmt"
	"slices"
)

// tenant is the one to which all jobs of the load belong.
const tenant = "default"

// slots is the number of slots, which a cluster divides among its shards.
const slots = 256

// ShardOf returns the shard of a job in a cluster with so many shards, as docs/format/store.md defines it: the slot is
// the first byte of a digest of tenant and name, and each shard has as many slots as any other. 0 and 1 shards are the
// same.
func ShardOf(job string, shards int) int {
	if shards <= 1 {
		return 0
	}
	digest := sha256.Sum256([]byte(tenant + "\x00" + job))
	return int(digest[0]) * shards / slots
}

// shardOf returns the shard of a job of the history.
func (h *History) shardOf(job string) int { return ShardOf(job, h.Shards) }

// shards returns how many shards there are, at least 1.
func (h *History) shards() int { return max(h.Shards, 1) }

// reignsOf returns the leaderships of the shard of a job; none before the logs are read.
func (ix *index) reignsOf(job string) []Reign {
	if ix.reigns == nil {
		return nil
	}
	return ix.reigns[ix.shardOf(job)]
}

// in returns the begin of a violation that names a shard, if there are several.
func (ix *index) in(shard int) string {
	if ix.Shards <= 1 {
		return ""
	}
	return fmt.Sprintf("shard %d: ", shard)
}

// hits reports whether a fault took the leader of a shard away. A fault that names no shard took all leaders.
func (f *Fault) hits(shard int) bool { return len(f.Shards) == 0 || slices.Contains(f.Shards, shard) }

// checkShards checks that each run is in the log of one shard only. A run that two shards have decided would be launched
// by the leader of each. That the shard is that of its job is what the check "accepted runs" adds.
func checkShards(ix *index, f *Finding) {
	shards := make(map[string]int) // of the runs seen so far
	for _, l := range ix.Final.Logs {
		for id := range l.Runs {
			f.Examined++
			if other, ok := shards[id]; ok && other != l.Shard {
				f.fail("", "run %s is in the log of shard %d and, on %s, in that of shard %d", id, other, l.Node, l.Shard)
			}
			shards[id] = l.Shard
		}
	}
}
