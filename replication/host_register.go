package replication

import (
	"context"
	"errors"
	"time"
)

// memberLease is the lease of one of several shards. It implements register.
type memberLease struct {
	host  *hostLease
	shard uint32
}

// of returns the lease as that of a node, whose claims it tells how they are decided: they replace the key of the shard.
func (l *memberLease) of(n *Node) register {
	n.challenger.key = func() uint64 {
		_, revision := l.host.ledger.own(l.shard)
		return revision
	}
	if n.challenger.promises != nil {
		n.challenger.promises.undecided = undecidedTime
	}
	return l
}

// undecidedTime bounds how long a claim of a shard without an answer counts as under way. The key of a shard may stay as it is
// for good, so nothing shows that the request was lost. It is far longer than NATS keeps a request.
const undecidedTime = time.Minute

// claim implements register. revision is that of the key of the shard. What it knows of the lease and of the holder's node is of
// one moment: the ledger goes on to see renewals while the requests of a claim are under way, and a claim that judged by the old
// ones must fail by the new ones. It ends the epoch of the node that has the lease before it takes the key of the shard, so the
// former holder can renew the lease no more once another node has it. A lease that was given up needs no such end.
func (l *memberLease) claim(ctx context.Context, v *leaseValue, known leaseValue, revision uint64) (uint64, error) {
	begun := l.host.opts.Boot()
	epoch, err := l.host.hold(ctx)
	switch {
	case err != nil:
		return 0, err
	case l.host.opts.Boot()-begun >= l.host.opts.Grace:
		return 0, errLost // a node may have led meanwhile, and the bucket may be another one: the member has to judge anew
	}
	lease, held, at, holder := l.host.ledger.claimed(l.shard)
	if err := l.confirm(ctx, held, at, lease.damaged || revision == 0); err != nil {
		return 0, err
	}
	switch {
	case revision == 0:
		at = 0
	case at != revision:
		return 0, errLost // the claim would not be the one that the member has noted
	case lease.damaged && lease.revision != revision, !lease.damaged && !known.same(lease.value) && !known.isReleaseOf(lease.value):
		return 0, errLost // the ledger has seen more than the member
	case !held.Released && held.Node != "" && held.Process != l.host.opts.Process:
		if err := l.host.end(ctx, &held, holder); err != nil {
			return 0, err
		}
	}
	v.Shard, v.Epoch, v.Renewal = l.shard, epoch, l.host.ledger.node(v.Node).value.Renewal
	return l.swap(ctx, *v, at)
}

// confirm returns errLost if the key of the shard is not what the ledger knows.
func (l *memberLease) confirm(ctx context.Context, known leaseValue, revision uint64, isUnreadable bool) error {
	if isUnreadable {
		return nil
	}
	return confirmed(ctx, known, revision, l.look, l.lookForSure)
}

// lookForSure does what look does, and asks the server that leads the bucket.
func (l *memberLease) lookForSure(ctx context.Context) (v leaseValue, revision uint64, err error) {
	v, revision, isBack, err := l.host.heldForSure(ctx, l.shard)
	if isBack {
		l.host.bucketWentBack()
	}
	return v, revision, err
}

// swap implements register: it writes the key of the shard.
func (l *memberLease) swap(ctx context.Context, v leaseValue, revision uint64) (uint64, error) {
	b := v.encode()
	revision, err := l.host.keys.put(ctx, keyOfShard(l.shard), b, revision)
	if err == nil {
		_ = l.host.ledger.see(keyState{keyOfShard(l.shard), b, revision}) // it was just encoded
	}
	return revision, err
}

// held implements register.
func (l *memberLease) held(ctx context.Context, least uint64) (leaseValue, uint64, error) {
	return lookFrom(ctx, least, l.look, l.lookForSure)
}

// look reads the key of the shard. What it reads goes into the ledger.
func (l *memberLease) look(ctx context.Context) (v leaseValue, revision uint64, err error) {
	b, revision, err := l.host.keys.get(ctx, keyOfShard(l.shard))
	if err != nil || revision == 0 {
		return v, 0, err
	}
	if v, err = decodeLease(b); err == nil || errors.Is(err, errDamagedLease) {
		_ = l.host.ledger.see(keyState{keyOfShard(l.shard), b, revision})
	}
	return v, revision, err
}

// read implements register. The lease that it returns is never older than one that was seen.
func (l *memberLease) read(ctx context.Context) (leaseValue, uint64, error) {
	v, revision, err := l.look(ctx)
	if err != nil || revision == 0 {
		return v, revision, err
	}
	node, at, err := l.host.keys.get(ctx, keyOfNode(v.Node))
	if err != nil {
		return v, 0, err
	}
	if at != 0 {
		_ = l.host.ledger.see(keyState{keyOfNode(v.Node), node, at})
	}
	lease := l.host.ledger.lease(l.shard)
	return lease.value, lease.revision, nil
}

// watch implements register.
func (l *memberLease) watch(ctx context.Context, pass func(leaseSeen, error)) error {
	state := l.host.ledger.shards[l.shard]
	for {
		select {
		case <-ctx.Done():
			return nil
		case <-state.news:
			lease := l.host.ledger.lease(l.shard)
			var err error
			if lease.damaged {
				err = errDamagedLease
			}
			pass(lease, err)
		}
	}
}
