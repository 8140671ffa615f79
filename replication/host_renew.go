package replication

import (
	"context"
	"errors"
	"slices"
	"time"
)

// How hostLease renews the leases of all shards that the process leads, with one write.

// renewAll renews the leases until ctx ends. It sleeps until one can be due.
func (h *hostLease) renewAll(ctx context.Context) {
	look := time.NewTimer(untilTick(dueEvery))
	defer look.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-h.news:
		case <-look.C:
		}
		err := h.renewDue(ctx)
		if err != nil && ctx.Err() == nil {
			h.warn("the lease cannot be renewed; trying again", err)
		}
		look.Reset(h.untilLook(err != nil, time.Now()))
	}
}

// lookMost bounds the time between two looks: it is how late a process may notice that another node has taken one of its leases.
const lookMost = 250 * time.Millisecond

// untilLook returns the time until the next look: until a lease can be due, and then until a whole period of the clock, which
// shows wall now. again says that the last renewal has failed.
func (h *hostLease) untilLook(again bool, wall time.Time) time.Duration {
	now := h.opts.Boot()
	next := now + lookMost
	for _, n := range h.leading() {
		next = min(next, n.leadership.nextDue(now))
	}
	if again || next <= now {
		return untilTickAt(wall, dueEvery)
	}
	after := time.Duration(wall.Add(next-now).UnixNano()) % dueEvery
	return next - now + (dueEvery-after)%dueEvery
}

// wake lets renewAll look at once.
func (h *hostLease) wake() {
	select {
	case h.news <- struct{}{}:
	default: // it is to look already
	}
}

// renewDue renews the leases of all members if that of one is due, and ends the leadership of members whose shard was
// taken by another node.
func (h *hostLease) renewDue(ctx context.Context) error {
	members, due, now := h.leading(), false, h.opts.Boot()
	for _, n := range members {
		if h.ledger.tookOver(n) {
			n.loses(h.ledger.lease(n.opts.Shard))
			return nil
		}
		due = due || n.leadership.due(now)
	}
	if !due {
		return nil
	}
	h.renewing.Lock()
	defer h.renewing.Unlock()
	if members = h.ofThisEpoch(members); len(members) == 0 {
		return nil
	}
	err := h.renew(ctx, members)
	if !errors.Is(err, ErrDeposed) {
		return err
	}
	h.held = false
	for _, n := range members {
		n.loses(h.ledger.lease(n.opts.Shard))
	}
	return nil
}

// ofThisEpoch returns the members whose leases are of the epoch that the key of the node has; the others lose theirs. Another
// node has ended the epoch of those, and since then this process has begun another one, to take a lease. Renewals in that epoch
// renew nothing that was taken in the one before: all others count such a lease from its last renewal before the end. In a
// bucket that was made anew the leases get the epoch of the key when they are written again.
func (h *hostLease) ofThisEpoch(members []*Node) (list []*Node) {
	if h.anew {
		return members
	}
	for _, n := range members {
		r := &n.leadership
		r.mu.Lock()
		isPresent := r.value.Epoch == h.value.Epoch
		r.mu.Unlock()
		if isPresent {
			list = append(list, n)
		} else {
			n.loses(h.ledger.lease(n.opts.Shard))
		}
	}
	return list
}

// tookOver reports whether the key of a member's shard names another leadership than the member's.
func (l *ledger) tookOver(n *Node) bool {
	v, revision := l.own(n.opts.Shard)
	r := &n.leadership
	r.mu.Lock()
	defer r.mu.Unlock()
	isOther := v.Node != r.value.Node || v.Process != r.value.Process || v.Term != r.value.Term
	return isOther && (v.Term > r.value.Term || v.Term == r.value.Term && revision > r.revision)
}

// renew writes the key of the node once. Like [Node.renew] it reads the key first if the outcome of the last write is
// unknown, or if a member may not launch.
func (h *hostLease) renew(ctx context.Context, members []*Node) error {
	begun := h.opts.Boot()
	grants := make([]shardGrant, 0, len(members))
	for _, n := range members {
		v := n.renewal(begun)
		grants = append(grants, shardGrant{n.opts.Shard, v.Term, v.Heirs})
	}
	over := h.revision
	if trusted := trustAll(members); h.unsure || !trusted {
		if h.losePassed(members, begun) {
			h.wake() // for the others
			return nil
		}
		var err error
		if over, err = h.review(ctx, members, trusted); err != nil {
			return err
		}
		begun = h.opts.Boot()
	}
	next := h.value
	next.Renewal, next.Shards = next.Renewal+1, grants
	if err := h.write(ctx, next, over, begun); errors.Is(err, errLost) {
		return nil // most likely an own write whose reply was lost; the next read shows it
	} else if err != nil {
		return err
	}
	if err := h.restoreAll(ctx, members); err != nil {
		return err
	}
	for i, n := range members {
		n.renewedAt(begun, next.Renewal, next.Shards[i])
	}
	return nil
}

// write writes the key of the node over a revision of it; 0: over none. It finds out by the way whether the bucket has gone back:
// then the new state of the key has a revision that was seen already.
func (h *hostLease) write(ctx context.Context, next nodeValue, over uint64, begun time.Duration) error {
	isLost := over < h.revision || over == 0 || h.back
	if isLost {
		// The epoch may have been ended in what was lost, and others may know that: this one is later.
		next.Epoch += 2
		h.tried = next.Epoch
		h.ledger.goesBack(0)
	}
	newest := h.ledger.newest()
	revision, err := h.put(ctx, h.opts.Node, next, over)
	if h.unsure = err != nil; h.unsure {
		return err
	}
	if revision <= newest {
		isLost = true
		h.ledger.goesBack(revision)
	}
	h.emptied = h.emptied || over == 0
	h.anew, h.back = h.anew || isLost, false
	h.value, h.revision, h.sure = next, revision, begun
	return nil
}

// bucketWentBack notes that the bucket has gone back behind what this process has seen: the next renewal writes the keys of its
// shards again.
func (h *hostLease) bucketWentBack() {
	h.renewing.Lock()
	defer h.renewing.Unlock()
	h.back = h.held
}

// losePassed ends the leadership of members for whose shards another node has begun a later epoch, and reports whether there were any.
func (h *hostLease) losePassed(members []*Node, now time.Duration) (some bool) {
	for _, n := range members {
		if n.Trust() <= 0 && n.isPassed(now) {
			n.loses(leaseSeen{})
			some = true
		}
	}
	return some
}

// trustAll reports whether all members may launch.
func trustAll(members []*Node) bool {
	for _, n := range members {
		if n.Trust() <= 0 {
			return false
		}
	}
	return true
}

// review reads the key of the node, and returns its revision: 0 if the bucket was made anew. One before that of the last write is
// of a bucket that has gone back. It returns ErrDeposed if the epoch was ended.
func (h *hostLease) review(ctx context.Context, members []*Node, trusted bool) (revision uint64, err error) {
	v, revision, err := h.read(ctx)
	if err == nil && revision < h.revision {
		v, revision, err = h.readForSure(ctx)
	}
	if err != nil {
		return 0, err
	}
	lasts := false
	for _, n := range members {
		lasts = lasts || n.leadership.left(h.opts.Boot()) > 0
	}
	if err := h.judge(v, revision, trusted, lasts); err != nil {
		return 0, err
	}
	if revision == 0 || revision > h.revision {
		h.revision = revision
	}
	// It may be an own write whose reply was lost. The next one must have a renewal of its own.
	h.anew = h.anew || v.Epoch > h.value.Epoch
	h.value.Epoch, h.value.Renewal = max(v.Epoch, h.value.Epoch), max(v.Renewal, h.value.Renewal)
	return revision, nil
}

// restoreAll writes the keys of the members' shards again, if the bucket was made anew or has gone back.
func (h *hostLease) restoreAll(ctx context.Context, members []*Node) error {
	if !h.anew {
		return nil
	}
	for _, n := range members {
		if err := h.restore(ctx, n); err != nil {
			return err
		}
	}
	if h.emptied && h.places != nil { // nil only in the simulation
		h.places.lost()
	}
	h.anew, h.emptied = false, false
	return nil
}

// judge says what a state of the key that was read means, as [leadership.judge] does for a lease.
func (h *hostLease) judge(v nodeValue, revision uint64, trusted, lasts bool) error {
	empty := v.Node == ""
	isAnew := empty && h.revision == 0
	isEarlier := (v.Process == h.value.Process || v.Ended == h.value.Process) && v.Epoch < h.value.Epoch // as of a bucket that was lost: epochs of a process only grow
	isOlder := revision < h.revision && !v.after(h.value)
	switch {
	case trusted && empty, !empty && isOlder: // the write shows whether the bucket has gone back
		return nil
	case (isAnew || isEarlier) && lasts:
		return errStale
	case empty || v.Process != h.value.Process || v.Epoch != h.value.Epoch && v.Epoch != h.tried:
		return ErrDeposed
	default:
		return nil
	}
}

// restore writes the key of a member's shard into a bucket that was made anew, or has gone back, with the present epoch, over
// nothing but what is of this member, or was there before it. If another node was faster, the member loses the shard: that node
// found no key of this one whose epoch it could have ended, so the key of the shard alone says which of the two has the lease.
//
// The key gets none of the revisions that it had in the bucket that was lost: a claim that names one of them may be under way still.
func (h *hostLease) restore(ctx context.Context, n *Node) error {
	r := &n.leadership
	r.mu.Lock()
	v := r.value
	r.mu.Unlock()
	v.Epoch, v.Renewal, v.Heirs = h.value.Epoch, h.value.Renewal, nil // so it is after each state in the bucket that was lost
	found, revision, _, err := h.heldForSure(ctx, n.opts.Shard)
	isOwn := found.Process == v.Process && found.Term == v.Term && !found.Released
	switch {
	case errors.Is(err, errDamagedLease), err == nil && revision != 0 && !isOwn && found.Term >= v.Term:
		n.loses(leaseSeen{value: found, revision: revision, damaged: err != nil})
		return nil
	case err != nil:
		return err
	}
	had := h.ledger.had(n.opts.Shard)
	isWritten := isOwn && found.Epoch == v.Epoch // by an earlier try, whose reply was lost
	for !isWritten || slices.Contains(had, revision) {
		if revision, err = h.keys.put(ctx, keyOfShard(n.opts.Shard), v.encode(), revision); err != nil {
			return err
		}
		isWritten = true
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.value.Epoch, r.revision = v.Epoch, revision
	return nil
}

// heldForSure reads the key of a shard from the server that leads the bucket; revision 0: there is none. isBack says that this has
// shown that the bucket has gone back, or was made anew.
func (h *hostLease) heldForSure(ctx context.Context, shard uint32) (v leaseValue, revision uint64, isBack bool, err error) {
	before := h.ledger.revisions()
	states, err := h.keys.list(ctx, keyOfShard(shard))
	if err != nil || len(states) == 0 {
		return v, 0, false, err
	}
	isBack = h.ledger.review(states, before, h.opts.Boot())
	v, err = decodeLease(states[0].value)
	return v, states[0].revision, isBack, err
}
