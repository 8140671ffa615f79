package replication

import (
	"context"
	"errors"
	"log/slog"
	"time"
)

// leaseSeen is a revision of the lease as the watch saw it.
type leaseSeen struct {
	value    leaseValue
	revision uint64
}

// answer is what became of a question to the holder of the lease.
type answer struct {
	node   string
	nobody bool // is there, or it is there and does not lead
}

func (n *Node) sawLease(l leaseSeen) {
	if l.revision == 0 {
		n.rival.vanished(n.opts.Boot())
		return
	}
	n.rival.saw(n.opts.Boot(), l.revision, l.value)
}

// claim tries to take the lease, and tells whether it has it. A loss shows who has it instead.
func (n *Node) claim(ctx context.Context) bool {
	begun := n.opts.Boot()
	v := n.rival.claim(n.id)
	revision, err := n.bucket.swap(ctx, v, n.rival.revision)
	if err == nil {
		n.rival.saw(begun, revision, v)
		n.reign.begin(n.opts, v, revision, begun)
		return true
	}
	if !errors.Is(err, errLost) {
		n.warn("the lease cannot be taken; trying again", err)
	}
	n.refresh(ctx)
	return false
}

// refresh reads the lease. What it reads may be stale; it only makes the next try likelier to succeed.
func (n *Node) refresh(ctx context.Context) {
	v, revision, err := n.bucket.look(ctx)
	switch {
	case err != nil:
	case revision == 0:
		n.rival.vanished(n.opts.Boot())
	default:
		if revision < n.rival.revision { // the bucket was made anew
			n.rival.vanished(n.opts.Boot())
		}
		n.rival.saw(n.opts.Boot(), revision, v)
	}
}

// watchLease passes on what happens to the lease, until ctx ends.
func (n *Node) watchLease(ctx context.Context) {
	for ctx.Err() == nil {
		if err := n.watchOnce(ctx); err != nil && ctx.Err() == nil {
			n.opts.Logger.Debug("the lease cannot be watched; trying again", slog.Any("error", err))
		}
		n.rest(ctx, retryPause)
	}
}

func (n *Node) watchOnce(ctx context.Context) error {
	return n.bucket.watch(ctx, func(l leaseSeen, err error) {
		if err != nil {
			n.warn("the lease was passed over", err)
			return
		}
		select {
		case n.lease <- l:
		case <-ctx.Done():
		}
	})
}

// askEvery is the time between two questions to the holder of the lease.
const askEvery = 100 * time.Millisecond

// askHolders asks whoever holds the lease whether it is there, until ctx ends. The servers know at once
// when the process dies: then nobody is there to answer.
func (n *Node) askHolders(ctx context.Context) {
	tick := time.NewTicker(askEvery)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
		holder, term := n.holder()
		if holder == "" || holder == n.opts.Node {
			continue
		}
		a := answer{node: holder, nobody: n.isGone(ctx, holder, term)}
		select {
		case n.answers <- a:
		case <-ctx.Done():
			return
		}
	}
}
