package replication

import (
	"context"
	"fmt"
)

// shardLease is the lease of a cluster with one shard: one key says who holds it, and is written at each renewal. So it
// is the lease of the node at the same time. It implements register.
type shardLease struct {
	keys keys
	key  string
}

// keyOfShard returns the key that says which node leads a shard.
func keyOfShard(shard uint32) string { return fmt.Sprintf("shard.%d", shard) }

// claim implements register.
func (l *shardLease) claim(ctx context.Context, v *leaseValue, _ leaseValue, revision uint64) (uint64, error) {
	return l.swap(ctx, *v, revision)
}

// swap implements register. After any error except errLost the write may be stored, or may still be: the caller reads
// before it writes again.
func (l *shardLease) swap(ctx context.Context, v leaseValue, revision uint64) (uint64, error) {
	return l.keys.put(ctx, l.key, v.encode(), revision)
}

// read implements register.
func (l *shardLease) read(ctx context.Context) (v leaseValue, revision uint64, err error) {
	value, revision, err := l.keys.get(ctx, l.key)
	if err != nil || revision == 0 {
		return v, 0, err
	}
	v, err = decodeLease(value)
	return v, revision, err
}

// held implements register.
func (l *shardLease) held(ctx context.Context) (leaseValue, uint64, error) { return l.read(ctx) }

// watch implements register.
func (l *shardLease) watch(ctx context.Context, pass func(leaseSeen, error)) error {
	return l.keys.watch(ctx, l.key, func(s keyState) {
		if s.revision == 0 {
			pass(leaseSeen{}, nil)
			return
		}
		v, err := decodeLease(s.value)
		pass(leaseSeen{value: v, revision: s.revision}, err)
	})
}
