package usage

import (
	"maps"
	"sync"
	"sync/atomic"
	"time"

	"github.com/carillon-io/carillon/scheduler"
)

// staleAfter is after how long a silent leader no longer stands in the way of one with an earlier epoch. A leader that is
// replaced has stopped long before. So a message with a false epoch has its effect only while it is repeated.
const staleAfter = 10 * time.Second

// sumEvery is the shortest time between two sums for a shard: several processes report in each second, and a sum is as long as
// there are tenants with a quota.
const sumEvery = 250 * time.Millisecond

// Table has the newest use of each shard, as far as it is known. It is bounded by the number of shards and by the tenants
// that have a quota. Safe for concurrent use.
type Table struct {
	mu     sync.Mutex
	shards []known
	total  map[string]scheduler.Quota // of all shards; nil: to be added up again

	changes atomic.Uint64 // counts the changes of shards
	sums    []atomic.Pointer[Sum]
}

// known is what is known of one shard.
type known struct {
	heard      time.Time // zero: of no leader
	epoch, seq uint64
	uses       map[string]scheduler.Quota // without those that are zero
}

// Sum is what tenants use in all shards but one. It never changes.
type Sum struct {
	Uses    map[string]scheduler.Quota
	changes uint64 // it has those of the table up to this one
	made    time.Time
}

// NewTable returns a table for a number of shards, of which nothing is known.
func NewTable(shards int) *Table {
	return &Table{shards: make([]known, shards), sums: make([]atomic.Pointer[Sum], shards)}
}

// Elsewhere returns what tenants use in all shards but one. It is for each step of an engine: it returns the same pointer and
// allocates nothing as long as nothing has changed, and a change counts a quarter of a second after the last one at the latest.
func (t *Table) Elsewhere(shard uint32) *Sum {
	last, changes := t.sums[shard].Load(), t.changes.Load()
	if last != nil && last.changes == changes {
		return last
	}
	now := time.Now()
	if last != nil && now.Sub(last.made) < sumEvery {
		return last
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	sum := &Sum{Uses: t.without(shard), changes: t.changes.Load(), made: now}
	t.sums[shard].Store(sum)
	return sum
}

// without returns what tenants use in all shards but one. The caller holds the mutex.
func (t *Table) without(shard uint32) map[string]scheduler.Quota {
	if t.total == nil {
		t.total = make(map[string]scheduler.Quota)
		for i := range t.shards {
			for tenant, use := range t.shards[i].uses {
				t.total[tenant] = t.total[tenant].Add(use)
			}
		}
	}
	own, rest := t.shards[shard].uses, make(map[string]scheduler.Quota, len(t.total))
	for tenant, use := range t.total {
		if use = use.Minus(own[tenant]); (use != scheduler.Quota{}) {
			rest[tenant] = use
		}
	}
	return rest
}

// Hear takes the report of a leader. It keeps the uses of those tenants that counts selects: those that have a quota. It ignores
// a report that is older than what is known, and one of a shard that the cluster does not have.
func (t *Table) Hear(r *Report, now time.Time, counts func(tenant string) bool) {
	if int64(r.Shard) >= int64(len(t.shards)) {
		return
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	k := &t.shards[r.Shard]
	if r.Epoch == 0 {
		t.guess(k, r, counts)
		return
	}
	switch isOld := r.Epoch < k.epoch || r.Epoch == k.epoch && r.Seq <= k.seq; {
	case k.heard.IsZero():
		r.From, r.To = "", "" // it replaces what a replica had
	case isOld && now.Sub(k.heard) < staleAfter:
		return
	}
	k.heard, k.epoch, k.seq = now, r.Epoch, r.Seq
	t.take(k, r, counts)
}

// Guess takes what a replica of this process has of a shard of which no leader was heard yet, and returns true; otherwise false. So
// a shard without a leader counts from the start of the process.
func (t *Table) Guess(shard uint32, uses []Use) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.guess(&t.shards[shard], &Report{Uses: uses}, func(string) bool { return true })
}

// guess takes what a replica of this process or of another one has. The caller holds the mutex.
func (t *Table) guess(k *known, r *Report, counts func(tenant string) bool) bool {
	if !k.heard.IsZero() {
		return false
	}
	t.take(k, r, counts)
	return true
}

// take replaces the uses of the tenants that a report is about. The caller holds the mutex.
func (t *Table) take(k *known, r *Report, counts func(tenant string) bool) {
	uses := make(map[string]scheduler.Quota, len(r.Uses))
	for tenant, use := range k.uses {
		if !r.covers(tenant) && counts(tenant) {
			uses[tenant] = use
		}
	}
	for _, u := range r.Uses {
		if (u.Quota != scheduler.Quota{}) && counts(u.Tenant) {
			uses[u.Tenant] = u.Quota
		}
	}
	if !maps.Equal(uses, k.uses) {
		k.uses, t.total = uses, nil
		t.changes.Add(1)
	}
}
