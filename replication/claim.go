package replication

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"time"
)

// leaseSeen is a revision of the lease as the watch saw it; revision 0 means that there is no lease.
type leaseSeen struct {
	value    leaseValue
	revision uint64
	damaged  bool // a foreign program has overwritten it: value is empty
	// back is when this process learned last that the bucket had gone back, or was made anew: revisions begin again then; 0:
	// never. See ledger.review.
	back time.Duration
}

// answer is the outcome of a question to the holder of the lease.
type answer struct {
	node    string
	outcome outcome
	ended   bool // the node answers, and says that it no longer holds the lease
}

// sawLease passes a state of the lease on to the challenger.
func (n *Node) sawLease(l leaseSeen) {
	if l.back != n.seenBack {
		n.seenBack = l.back
		n.challenger.wentBack(n.opts.Boot(), l.back)
	}
	switch {
	case l.revision == 0:
		n.challenger.vanished(n.opts.Boot())
	case l.damaged:
		n.challenger.spoiled(n.opts.Boot(), l.revision)
	default:
		n.challenger.saw(n.opts.Boot(), l.revision, l.value)
	}
}

// claimReason returns the reason for which this node may claim the lease; "" if it may not. A node that knows
// that it lacks commits never may. Every check before that of the lease bars a claim that the lease itself would
// permit: a node that claims with less than the whole log would not break the log, but cut off what others have
// acknowledged.
func (f *tailSession) claimReason() string {
	now := f.opts.Boot()
	barred, outranked := f.lacksFirst(), f.outranked(now)
	if barred == nil && (f.catchesUp(now) || f.writer.lacks() != nil || f.isOutrun(now) || f.isYoung(now) || f.mustWait(now)) {
		f.bar(nil)
		return ""
	}
	if barred == nil {
		barred = f.lacksEmptied(now)
	}
	if barred == nil {
		barred = outranked
	}
	if f.bar(barred); barred != nil || f.mustListen(now) || f.isBehindAnEpoch(now) {
		return ""
	}
	reason := f.reasonNow(now)
	if reason != "" && f.isOutdone(now) {
		return ""
	}
	return reason
}

// reasonNow returns the reason for which the lease permits a claim now; "" if it does not.
func (n *Node) reasonNow(now time.Duration) string {
	if !n.opts.keepsAcked() {
		n.challenger.hears = n.peers.hears().since
	}
	return n.challenger.claimReason(now, n.isLed(now))
}

// mustListen reports whether what this node sees of the lease may be of the past without its knowing that: it stood still, or was cut
// off, and NATS may have gone back meanwhile to what it knows. A node that was there before, and is silent, may lead, and be cut off in
// turn: it counts for as long as a lease. Where NATS keeps what it acknowledges, none of that can be.
func (n *Node) mustListen(now time.Duration) bool {
	h := n.peers.hears()
	switch {
	case n.opts.keepsAcked():
		return false
	case h.isDeaf(now):
		return true
	default:
		return h.hasBegun(n.opts.Lease, now) && n.peers.hearsNotAll(n.lacksOne(h.before, now), now)
	}
}

// lacksOne reports whether another node that was heard after an instant is silent now, and has not said that it ends. With several shards
// it counts whatever shards it had: this one may have been moved to it since. One that is heard, and has no copy of this shard any more,
// is not silent.
func (n *Node) lacksOne(since, now time.Duration) bool {
	isSilent := func(node string) bool { return n.host == nil || !n.host.hears(node, now) }
	return slices.ContainsFunc(n.peers.silent(since, now), isSilent) || n.host != nil && n.host.lacks(since, now)
}

// isBehindAnEpoch reports whether a node is heard that has commits of a later epoch than this one. If this one has read the stream to
// its end, NATS has lost them, and that node is to lead, unless an operator has said that this one is.
func (n *Node) isBehindAnEpoch(now time.Duration) bool {
	return !n.isTold() && n.peers.newestEpoch(now) > n.local.Last().Epoch
}

// isLed reports whether another node says that it leads, in no earlier epoch than this node knows, and the lease is not that node's.
func (n *Node) isLed(now time.Duration) bool {
	leader, led := n.peers.leader(now)
	return led && leader.Node != n.opts.Node && leader.Node != n.challenger.value.Node && leader.Epoch >= n.local.Last().Epoch
}

// catchesUp reports whether this node still reads commits that it missed, or is to receive a checkpoint.
// Without progress for stuckAfter it does not count as reading: otherwise a consumer that delivers nothing
// would keep this node from leading for ever.
func (f *tailSession) catchesUp(now time.Duration) bool {
	if f.writer.seq < f.end && now-f.progress <= stuckAfter {
		return true
	}
	leader, ok := f.peers.leader(now)
	return ok && leader.LSN > f.writer.at.LSN+inSyncLSN && now-f.progress > stuckAfter
}

// lacksFirst says that the node that made the stream had more commits than this one.
func (n *Node) lacksFirst() error {
	if own, first := n.local.Last().LSN, n.first.Load(); own < first {
		return fmt.Errorf("the node that made the stream had commit %d, and this node has %d; start a node that has more", first, own)
	}
	return nil
}

// lacksEmptied says that the stream was emptied, and that this node may lack what was in it.
func (n *Node) lacksEmptied(now time.Duration) error {
	if n.writer.emptied && !n.hasAll(now) {
		return errors.New("the stream of the log was emptied, and this node cannot tell whether it has all that was in it; " +
			"start the node that led last, all nodes, or this one with --lead-alone")
	}
	return nil
}

// bar stores for the status why this node must not lead, and logs it; nil if nothing bars it.
func (n *Node) bar(why error) {
	n.mu.Lock()
	n.barred = why
	n.mu.Unlock()
	if why != nil {
		n.warn("this node must not lead", why)
	}
}

// claim tries to take the lease, and reports whether this node now has it, or is to lead with a claim that it sends
// beside the record of its epoch, see [Node.succeeds]. After a failure the node knows who has it instead. From the start
// of a claim on, this node gives no promise; if it had given one just before, it does not claim.
func (n *Node) claim(ctx context.Context) bool {
	if n.challenger.revision == 0 && !n.challenger.cautious && !n.founding(ctx) {
		n.challenger.cautious = true
		return false
	}
	word, key := n.challenger.promises, n.challenger.keyOf(n.challenger.revision)
	if key == 0 && n.challenger.revision != 0 { // the bucket was made anew, and the loop has not heard of that yet
		n.refresh(ctx)
		return false
	}
	word.claim(n.opts.Boot(), key)
	// A promise may have been given since the caller checked. From here on none is, so this check is final.
	if n.reasonNow(n.opts.Boot()) == "" {
		word.claimEnded()
		return false
	}
	t := &succession{value: n.challenger.claim(n.id), known: n.challenger.value, revision: key}
	if n.succeeds() {
		n.succession = t
		n.leadership.starting.Store(true)
		return true
	}
	n.sendClaim(ctx, t)
	return n.settle(ctx, t)
}

// findLease reads the lease from time to time while it is unknown whether there is one.
func (f *tailSession) findLease(ctx context.Context) {
	if now := f.opts.Boot(); f.challenger.unseen() && now-f.leaseRead >= rereadAfter {
		f.leaseRead = now
		f.refresh(ctx)
	}
}

// founding reports whether no node has led yet. Then there never was a lease that could have been lost. A founder with data has a
// new cluster; but if it gives the log of another one up, that one's leader may hang, and launch when it wakes.
func (n *Node) founding(ctx context.Context) bool {
	hasData, isNew := n.local.Last().LSN > 0 || n.first.Load() > 0, n.opts.Found && n.opts.GiveUp == ClusterID{}
	if hasData && !isNew {
		return false
	}
	_, last, err := n.writer.stream.Bounds(ctx)
	return err == nil && last == 0
}

// refresh reads the lease. The result may be stale: it only makes the next claim more likely to succeed. An
// error changes nothing: the challenger goes on with what it knows, and its times go on as well.
func (n *Node) refresh(ctx context.Context) {
	v, revision, err := n.register.read(ctx)
	switch {
	case errors.Is(err, errDamagedLease):
		n.challenger.spoiled(n.opts.Boot(), revision)
	case err != nil:
	case revision == 0:
		n.challenger.vanished(n.opts.Boot())
	default:
		if revision < n.challenger.revision { // the bucket was made anew, or has gone back
			n.challenger.wentBack(n.opts.Boot(), n.opts.Boot())
		}
		n.challenger.saw(n.opts.Boot(), revision, v)
	}
}

// watchLease sends each state of the lease to the loop of the node, until ctx ends.
//
// A watch can end, or fall silent, when the server that serves it dies. It begins again after retryPause; heard
// and findLease read the lease where the silence lasts.
func (n *Node) watchLease(ctx context.Context) {
	for ctx.Err() == nil {
		if err := n.watchOnce(ctx); err != nil && ctx.Err() == nil {
			n.opts.Logger.Debug("the lease cannot be watched; trying again", slog.Any("error", err))
		}
		n.wait(ctx, retryPause)
	}
}

func (n *Node) watchOnce(ctx context.Context) error {
	return n.register.watch(ctx, func(l leaseSeen, err error) {
		if l.damaged = errors.Is(err, errDamagedLease); err != nil {
			n.warn("the bucket of the lease holds something else", err)
		}
		if err != nil && !l.damaged {
			return
		}
		select {
		case n.lease <- l:
		case <-ctx.Done():
		}
	})
}
