package replication

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"time"
)

// hostLease is the lease of a node: it renews the leases of all shards that the process leads, with one write. Safe for
// concurrent use.
//
// Each shard has a tenure of its own, and each of its heirs promises for it alone, so what was shown for one shard holds
// for each of several. What they share is the write: it begins before, and ends after, whatever each of them counts.
type hostLease struct {
	opts    *Options // of any member
	cluster ClusterID
	keys    keys
	ledger  *ledger
	places  *places
	warn    func(what string, err error)

	renewing sync.Locker // held during a round, and while the key is taken; guards the fields below
	held     bool        // the key has this process and its epoch, as far as it knows
	value    nodeValue
	revision uint64
	sure     time.Duration // beginning of the last request that showed that the key has them
	unsure   bool          // the last write failed: read the key before the next one
	back     bool          // the bucket has gone back, and the key was not written since
	anew     bool          // the bucket was made anew or has gone back, and the keys of the shards are not all in it yet
	emptied  bool          // it was made anew, and so has no places
	tried    uint64        // epoch with which the key was last written into a bucket made anew, perhaps
	failed   time.Duration // when hold failed last
	failure  error         // of that call

	mu   sync.Mutex
	led  []*Node       // members that lead or are about to
	news chan struct{} // has an entry if a lease may have become due
}

// newHostLease returns the lease of a process. o are the options of any member.
func newHostLease(o *Options, cluster ClusterID, keys keys, places *places, warn func(what string, err error)) *hostLease {
	return &hostLease{opts: o, cluster: cluster, keys: keys, ledger: newLedger(o.Shards), places: places, warn: warn, renewing: &sync.Mutex{}, news: make(chan struct{}, 1)}
}

// lead renews the lease of a member until ctx ends.
func (h *hostLease) lead(ctx context.Context, n *Node) {
	h.add(n)
	<-ctx.Done()
	h.remove(n)
}

// add begins to renew the lease of a member.
func (h *hostLease) add(n *Node) {
	h.mu.Lock()
	h.led = append(h.led, n)
	h.mu.Unlock()
	h.wake()
}

// remove ends what add began.
func (h *hostLease) remove(n *Node) {
	h.mu.Lock()
	defer h.mu.Unlock()
	for i, m := range h.led {
		if m == n {
			h.led = append(h.led[:i:i], h.led[i+1:]...)
			return
		}
	}
}

// leading returns the members whose leases are to be renewed.
func (h *hostLease) leading() []*Node {
	h.mu.Lock()
	defer h.mu.Unlock()
	var list []*Node
	for _, n := range h.led {
		if n.leadership.ctx.Err() == nil {
			list = append(list, n)
		}
	}
	return list
}

// hold makes the process the holder of its node's key, in an epoch of its own, and returns the epoch. A process that has not
// renewed for a while may have stood still, and its epoch may have been ended: it reads the key before it takes a shard.
//
// Several members may call hold at a time. Where it fails for one, it fails for all that were waiting then: without NATS each
// would else wait for the timeouts of all before it, away from its loop.
func (h *hostLease) hold(ctx context.Context) (epoch uint64, err error) {
	asked := h.opts.Boot()
	h.renewing.Lock()
	defer h.renewing.Unlock()
	if h.failed > asked {
		return 0, h.failure
	}
	if epoch, err = h.holdAlone(ctx); err != nil {
		h.failed, h.failure = h.opts.Boot(), err
	}
	return epoch, err
}

// holdAlone is hold of a caller that has the lock.
func (h *hostLease) holdAlone(ctx context.Context) (epoch uint64, err error) {
	begun, seen := h.opts.Boot(), h.ledger.node(h.opts.Node).value
	isHeld := h.held && seen.Epoch <= h.value.Epoch
	if isHeld && begun-h.sure < h.opts.Grace {
		return h.value.Epoch, nil
	}
	now, revision, err := h.read(ctx)
	if err != nil {
		return 0, err
	}
	if isHeld && now.Process == h.opts.Process && now.Epoch == h.value.Epoch {
		h.sure = begun
		return h.value.Epoch, nil
	}
	if isHeld && now.Epoch <= h.value.Epoch && len(h.leading()) > 0 {
		return 0, errStale // no node has ended the epoch; if the bucket has gone back, the next renewal writes the key again
	}
	next := nodeValue{
		Cluster: h.cluster.String(), Node: h.opts.Node, Process: h.opts.Process, Shards: []shardGrant{},
		Epoch: max(now.Epoch, seen.Epoch, h.value.Epoch) + 1, Renewal: max(now.Renewal, seen.Renewal, h.value.Renewal) + 1,
	}
	if revision, err = h.put(ctx, h.opts.Node, next, revision); err != nil {
		return 0, fmt.Errorf("replication: begin an epoch of this node: %w", err)
	}
	h.held, h.value, h.revision, h.unsure, h.sure = true, next, revision, false, begun
	return next.Epoch, nil
}

// read reads the key of the node.
func (h *hostLease) read(ctx context.Context) (v nodeValue, revision uint64, err error) {
	b, revision, err := h.keys.get(ctx, keyOfNode(h.opts.Node))
	return readNode(b, revision, err)
}

// readForSure does what read does, and asks the server that leads the bucket.
func (h *hostLease) readForSure(ctx context.Context) (v nodeValue, revision uint64, err error) {
	states, err := h.keys.list(ctx, keyOfNode(h.opts.Node))
	if err != nil || len(states) == 0 {
		return v, 0, err
	}
	return readNode(states[0].value, states[0].revision, nil)
}

// readNode decodes what was read of a node's key. What cannot be read is no state: it is replaced.
func readNode(b []byte, revision uint64, err error) (v nodeValue, at uint64, failure error) {
	if err == nil && revision != 0 {
		v, err = decodeNode(b)
	}
	if errors.Is(err, errDamagedLease) {
		v, err = nodeValue{}, nil
	}
	return v, revision, err
}

// put writes the key of a node, and lets the ledger know.
func (h *hostLease) put(ctx context.Context, node string, v nodeValue, revision uint64) (uint64, error) {
	b := v.encode()
	revision, err := h.keys.put(ctx, keyOfNode(node), b, revision)
	if err == nil {
		_ = h.ledger.see(keyState{keyOfNode(node), b, revision}) // it was just encoded
	}
	return revision, err
}

// end ends the epoch in which another process took a lease, unless it has ended already: from then on that process can
// renew none of its leases. now is the state of that process's node by which the caller has judged that it renews no more: if it
// has renewed since, end returns errLost.
func (h *hostLease) end(ctx context.Context, lease *leaseValue, now nodeState) error {
	if now.value.hasEnded(lease.Process, lease.Epoch) {
		return nil
	}
	next := nodeValue{Cluster: lease.Cluster, Node: lease.Node, Epoch: lease.Epoch + 1, Renewal: now.value.Renewal + 1, EndedBy: heirOf(h.opts.Node, h.opts.Process), Ended: lease.Process, Shards: []shardGrant{}}
	if _, err := h.put(ctx, lease.Node, next, now.revision); err != nil {
		latest := h.ledger.node(lease.Node)
		if errors.Is(err, errLost) && latest.value.hasEnded(lease.Process, lease.Epoch) {
			return nil // another member of this process was faster
		}
		return err
	}
	h.opts.Logger.Info("the leases of a node were ended", slog.String("node", lease.Node), slog.Uint64("node_epoch", lease.Epoch))
	return nil
}

// watchAll lets the ledger see each state of the keys, until ctx ends. A watch can end, or fall silent, when the server
// that serves it dies. It begins again after retryPause; members read their leases where the silence lasts.
func (h *hostLease) watchAll(ctx context.Context) {
	for ctx.Err() == nil {
		err := h.keys.watch(ctx, ">", func(s keyState) {
			if err := errors.Join(h.ledger.see(s), h.places.see(s)); err != nil {
				h.warn("the bucket of the leases holds something else", err)
			}
		})
		if err != nil && ctx.Err() == nil {
			h.opts.Logger.Debug("the leases cannot be watched; trying again", slog.Any("error", err))
		}
		select {
		case <-ctx.Done():
		case <-time.After(retryPause):
		}
	}
}
