package replication

import (
	"context"
	"errors"
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
func (l *shardLease) claim(ctx context.Context, v *leaseValue, known leaseValue, revision uint64) (uint64, error) {
	if revision != 0 {
		if err := confirmed(ctx, known, revision, l.read, l.readForSure); err != nil {
			return 0, err
		}
	}
	return l.swap(ctx, *v, revision)
}

// lookAtLease returns a lease as it is stored, and its revision.
type lookAtLease func(context.Context) (leaseValue, uint64, error)

// confirmed reads a lease before it is claimed, and returns errLost if it is not the one that the claiming node knows. The
// revisions of a bucket that is lost and made anew begin again, so a node that stood still meanwhile may know an old lease of just
// the revision that the new one has; the compare-and-set alone would let it take a lease that it has not seen. A damaged lease
// is known by its revision only.
func confirmed(ctx context.Context, known leaseValue, revision uint64, look, forSure lookAtLease) error {
	now, at, err := lookFrom(ctx, revision, look, forSure)
	switch {
	case errors.Is(err, errDamagedLease) && at == revision:
		return nil
	case err != nil && !errors.Is(err, errDamagedLease):
		return err
	case err != nil || at != revision || !now.same(known):
		return errLost
	}
	return nil
}

// lookFrom reads a lease that had a revision. look may ask a server that lags behind a state that was just written, as in a
// hand-over; forSure asks the one that leads the bucket, where look finds less than that revision.
func lookFrom(ctx context.Context, revision uint64, look, forSure lookAtLease) (v leaseValue, at uint64, err error) {
	v, at, err = look(ctx)
	if err == nil && at < revision {
		return forSure(ctx)
	}
	return v, at, err
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

// readForSure does what read does, and asks the server that leads the bucket.
func (l *shardLease) readForSure(ctx context.Context) (v leaseValue, revision uint64, err error) {
	states, err := l.keys.list(ctx, l.key)
	if err != nil || len(states) == 0 {
		return v, 0, err
	}
	v, err = decodeLease(states[0].value)
	return v, states[0].revision, err
}

// held implements register.
func (l *shardLease) held(ctx context.Context, least uint64) (leaseValue, uint64, error) {
	return lookFrom(ctx, least, l.read, l.readForSure)
}

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
