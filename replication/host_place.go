package replication

import (
	"context"
	"errors"
	"log/slog"
	"slices"
	"time"

	"github.com/carillon-io/carillon/job"
)

// A cluster with several shards keeps Options.Copies copies of each on chosen nodes, and of shard 0 one on every node: it has
// the calendars, which every shard needs, and its leader places the others.
//
//	host_place.go  what this process is to hold: it claims new shards, opens what it is given, gives up what it is not
//	drive*.go      the leader of shard 0 decides: it writes the places, and spreads the leaderships
//	place_*.go     the keys of the bucket that say who holds what
//
// A copy moves in three steps. The driver names the node that joins in the place; that node receives a checkpoint and follows.
// When its beats say that it is level, the driver makes it a copy in the place of the one that leaves. That one hands the
// shard over if it leads it, and drops its data when another copy leads with all that it has.

// everywhere is the shard of which each node holds a copy.
const everywhere = 0

// Claim makes sure that each shard has a place, and returns the shards that this process is to hold. has are those of which
// its directory has data. A shard whose log is empty belongs to the node that claims it first; one that has fewer copies than
// wanted, and a log that is whole in the stream, gets one here. The first member must be open.
func (h *Host) Claim(ctx context.Context, has []uint32) (wanted []uint32, err error) {
	if h.opts.Shards == 1 {
		return []uint32{everywhere}, nil
	}
	states, err := h.keys.list(ctx, placeKeys+">")
	if err != nil {
		return nil, err
	}
	for _, s := range states {
		if err := h.places.see(s); err != nil {
			return nil, err
		}
	}
	for n := uint32(everywhere + 1); int(n) < h.opts.Shards; n++ {
		if err := h.claimShard(ctx, n, slices.Contains(has, n)); err != nil {
			return nil, err
		}
	}
	for _, n := range has {
		if !slices.Contains(h.Wanted(), n) {
			wanted = append(wanted, n) // until another copy is known to have all of it
		}
	}
	return append(wanted, h.Wanted()...), nil
}

// claimShard lets this node hold a shard that has no place, or too few copies. If another node is faster, that one's state
// counts.
func (h *Host) claimShard(ctx context.Context, shard uint32, has bool) error {
	at, self := h.places.of(shard), h.opts.Node
	lacks := !at.isKnown() || len(at.value.Copies) < h.copies() && at.value.Joins == "" && !at.value.has(self)
	if !lacks || h.places.draining(self).value.Drains {
		return nil
	}
	if !has {
		whole, err := h.ties.isWhole(ctx, shard, !at.isKnown())
		if err != nil || !whole {
			return err
		}
	}
	next := at.value.with(self)
	next.Shard = shard
	err := h.places.put(ctx, h.keys, at, next)
	if !errors.Is(err, errLost) {
		return err
	}
	if h.places.of(shard).revision == at.revision {
		return nil // the state that was read is old; the driver goes on
	}
	return h.claimShard(ctx, shard, has)
}

// Wanted returns the shards that this process is to hold, ascending.
func (h *Host) Wanted() (shards []uint32) {
	shards = []uint32{everywhere}
	for n := uint32(everywhere + 1); int(n) < h.opts.Shards; n++ {
		if v := h.places.of(n).value; v.has(h.opts.Node) {
			shards = append(shards, n)
		}
	}
	return shards
}

// Receives reports whether this process receives a copy of a shard. Until it has all, others have the copies that the shard has, and
// lose none. Safe for concurrent use.
func (h *Host) Receives(shard uint32) bool {
	v := h.places.of(shard).value
	return shard != everywhere && v.Joins == h.opts.Node
}

// Placed returns a channel of capacity 1 that has an element whenever a place may have changed.
func (h *Host) Placed() <-chan struct{} { return h.placed }

// MayDrop reports whether this process may give up its copy of a shard: as many other nodes as there are to be copies are to hold
// it, and are heard to have it all; and one of them leads it, in an epoch in which, or after which, this one has its newest commit.
// That leader has all that this one has from the log. A place alone proves no copy: where NATS has gone back, it names nodes that
// have given theirs up. While this process leads, MayDrop has it hand the shard over.
func (h *Host) MayDrop(shard uint32) bool {
	m, at := h.member(shard), h.places.of(shard)
	if shard == everywhere || m == nil {
		return false
	}
	if !at.isKnown() || at.value.has(h.opts.Node) || len(at.value.Copies) < h.copies() {
		h.stays(m)
		return false
	}
	heard := h.heard()
	leader, says, led := leaderOf(heard, shard, h.opts.Boot())
	if led && leader == h.opts.Node {
		h.passOn(m)
	}
	return led && leader != h.opts.Node && slices.Contains(at.value.Copies, leader) && m.Role() == RoleStandby && says.Epoch >= m.local.Last().Epoch &&
		h.wholeElsewhere(m, &at, heard) >= h.copies()
}

// stays notes that the copy of a member is wanted.
func (h *Host) stays(m *hosted) {
	h.mu.Lock()
	defer h.mu.Unlock()
	m.goes = job.Position{}
}

// wholeElsewhere returns how many of the nodes that are to hold a shard have all that the log of this member had when it was first
// found that its copy may go. The log grows meanwhile, and beats are always a little behind it.
func (h *Host) wholeElsewhere(m *hosted, at *placeSeen, heard []heardNode) (whole int) {
	last, now := m.local.Last(), h.opts.Boot()
	h.mu.Lock()
	if m.goes == (job.Position{}) {
		m.goes = last
	}
	goes := m.goes
	h.mu.Unlock()
	for i := range heard {
		n := &heard[i]
		own, has := n.of(m.opts.Shard)
		isThere := has && n.fresh(now) && (own.Role == RoleLeader || own.Role == RoleStandby) && slices.Contains(at.value.Copies, n.beat.Node)
		if isThere && (own.Epoch > goes.Epoch || own.Epoch == goes.Epoch && own.LSN >= goes.LSN) {
			whole++
		}
	}
	return whole
}

// passOn hands a shard over that this process leads and is not to hold.
func (h *Host) passOn(m *hosted) {
	err := m.wanted.ask(handover{own: true, reply: func(_ string, err error) {
		if err != nil {
			h.warn("a shard that goes to other nodes was not handed over; trying again", err)
		}
	}})
	if err == nil { // otherwise another hand-over of it is under way
		h.opts.Logger.Info("a shard is handed over, because other nodes are to hold it", slog.Uint64(job.LogShard, uint64(m.opts.Shard)))
	}
}

// mayHold reports whether a node is to hold a shard, as far as that is known.
func (h *Host) mayHold(shard uint32, node string) bool {
	if h == nil || h.places == nil || shard == everywhere {
		return true
	}
	at := h.places.of(shard)
	return at.mayHold(node)
}

// drains reports whether a node is to hold nothing, as far as that is known.
func (h *Host) drains(node string) bool {
	return h != nil && h.places != nil && h.places.draining(node).value.Drains
}

// reviewEvery is the time between two comparisons of the keys with what is known of them. A shorter time shows sooner that the
// bucket was made anew, and costs NATS a consumer each time.
const reviewEvery = 10 * time.Second

// reviewAll compares what is known of the keys with what the bucket has, from time to time, until ctx ends.
func (h *Host) reviewAll(ctx context.Context) {
	for range ticks(ctx, reviewEvery) {
		if err := h.review(ctx); err != nil && ctx.Err() == nil {
			h.warn("the bucket of the leases cannot be read; trying again", err)
		}
	}
}

// review compares it once.
func (h *Host) review(ctx context.Context) error {
	leases, places := h.lease.ledger.revisions(), h.places.revisions()
	states, err := h.keys.list(ctx, ">")
	if err != nil {
		return err
	}
	if h.lease.ledger.review(states, leases, h.opts.Boot()) {
		h.lease.bucketWentBack()
	}
	h.places.review(states, places)
	return nil
}

// watchPlaces passes on that a place has changed, until ctx ends.
func (h *Host) watchPlaces(ctx context.Context) {
	for {
		select {
		case <-ctx.Done():
			return
		case <-h.places.news:
			select {
			case h.placed <- struct{}{}:
			default:
			}
		}
	}
}
