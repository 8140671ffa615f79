package api

import (
	"context"
	"slices"
	"sync"
	"time"

	"github.com/carillon-io/carillon/apierr"
)

// party is one of those who share a room: the callers of a tenant over one way, for HTTP from one host. It is what a
// flood has in common. The name that a caller gives itself is not part of it, because a caller could choose a new one
// for each request.
type party struct{ tenant, from, host string }

// roomLimits are the bounds of a room. All must be positive. partyBytes must not exceed bytes, or a reply could be
// larger than the empty room and wait in vain.
type roomLimits struct {
	bytes, partyBytes     int           // of all replies together, and of those of one party
	builds, partyBuilds   int           // replies that are read and encoded at a time
	waiting, partyWaiting int           // requests that wait for a place
	wait                  time.Duration // how long a request waits
}

// room is the memory of replies. Before a request reads anything, it reserves the most that its reply may need. Once
// the reply is encoded, the request keeps the size of the reply, and frees that when the reply has left. Parties take
// turns: the one whose last place is oldest is served first, and no party can have the whole room. A nil room bounds
// nothing. Safe for concurrent use.
//
// Invariant: a party is in parties exactly while it has bytes, builds or waiting requests. The lock is held for a
// pass over the waiting requests at most, which are bounded.
//
// A reply is read into memory, encoded and then held until the network has it. Without a room, a few hundred callers
// with large lists could fill the memory of a process that launches jobs; a bound on the number of requests alone
// would have to be so low that it refuses the many small ones.
type room struct {
	limits roomLimits

	mu sync.Mutex
	// bytes is the sum over all holds, and builds the number of those that are building.
	bytes, builds int
	// turn orders the parties: the share with the lowest one is served next.
	turn uint64 // counts the places that were given
	// parties has only those that have something, so its size is bounded by the requests in progress.
	parties map[party]*roomShare
	tenants map[string]int // bytes of all parties of a tenant, without zeros
	waiting []*roomWait    // in the order of arrival
}

// roomShare is what a party has of a room.
type roomShare struct {
	tenant string
	// The share counts the holds of the party, and its entries in waiting.
	bytes, builds, waiting int
	turn                   uint64 // when it last got a place
}

// roomWait is a request that waits. It is in waiting exactly until it is given its place or gives up; the lock
// decides which of both comes first.
type roomWait struct {
	party party
	bytes int
	hold  *hold // of a request that rested and goes on; nil: it wants a hold
	// The channel is closed under the lock, at the same moment as the request leaves waiting.
	given chan struct{} // closed when it has its place
}

// newRoom returns an empty room. Its bounds do not change.
func newRoom(limits roomLimits) *room {
	return &room{limits: limits, parties: make(map[party]*roomShare), tenants: make(map[string]int)}
}

// take reserves a place for a reply of at most the given bytes. The caller must call settle and give on it. take
// waits no longer than the room's wait, and returns an error with the code rate_limited at once if too many requests
// wait. A request of a party that has others waiting waits too, even if there is room, so that it does not overtake
// them.
func (r *room) take(ctx context.Context, p party, bytes int) (*hold, error) {
	if r == nil {
		return nil, nil
	}
	bytes = min(bytes, r.limits.partyBytes) // so that it fits into an empty room
	r.mu.Lock()
	share := r.shareLocked(p)
	if share.waiting == 0 && r.fitsLocked(share, bytes) {
		r.giveLocked(share, bytes)
		r.mu.Unlock()
		return newHold(r, p, bytes), nil
	}
	if len(r.waiting) >= r.limits.waiting || share.waiting >= r.limits.partyWaiting {
		r.forgetLocked(p, share)
		r.mu.Unlock()
		return nil, errNoRoom()
	}
	// The share stays in parties because it has a waiting request from here on.
	w := &roomWait{party: p, bytes: bytes, given: make(chan struct{})}
	r.waiting = append(r.waiting, w)
	share.waiting++
	r.mu.Unlock()
	if !r.await(ctx, w) {
		return nil, errNoRoom()
	}
	return newHold(r, p, bytes), nil
}

// held returns the bytes that are reserved. It takes the lock, for no longer than a scrape needs.
func (r *room) held() int {
	if r == nil {
		return 0
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.bytes
}

// await waits for a place, and reports whether it was given. After the wait it asks under the lock whether the place was given meanwhile: if so it is
// used, because giving it back would only delay others.
func (r *room) await(ctx context.Context, w *roomWait) bool {
	timer := time.NewTimer(r.limits.wait)
	defer timer.Stop()
	select {
	case <-w.given:
	case <-timer.C:
	case <-ctx.Done():
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if i := slices.Index(r.waiting, w); i >= 0 {
		r.waiting = slices.Delete(r.waiting, i, i+1)
		share := r.parties[w.party]
		share.waiting--
		r.forgetLocked(w.party, share)
		return false
	}
	return true
}

// errNoRoom returns the refusal of a request that got no place. It says that nothing has changed, which holds because
// the place comes before the verb.
func errNoRoom() error {
	return apierr.Errorf(apierr.RateLimited, "", "the replies of other requests have all the memory that replies may have, or all of your share; nothing was read or changed, ask again later")
}

// shareLocked returns the share of a party, and creates it if the party has none. The caller must call forgetLocked
// if the share stays empty, or parties that come and go would fill the map.
func (r *room) shareLocked(p party) *roomShare {
	share := r.parties[p]
	if share == nil {
		share = &roomShare{tenant: p.tenant}
		r.parties[p] = share
	}
	return share
}

// forgetLocked drops the share of a party that holds nothing.
func (r *room) forgetLocked(p party, share *roomShare) {
	if share.bytes == 0 && share.builds == 0 && share.waiting == 0 {
		delete(r.parties, p)
	}
}

// countLocked adds bytes, which may be negative, to the room, to a party and to its tenant.
func (r *room) countLocked(share *roomShare, bytes int) {
	r.bytes += bytes
	share.bytes += bytes
	if r.tenants[share.tenant] += bytes; r.tenants[share.tenant] == 0 {
		delete(r.tenants, share.tenant)
	}
}

// tenantBytes is the most that all parties of a tenant may have together, such as its callers from several hosts: three
// quarters of the room, so that there is always some for another tenant.
func (l *roomLimits) tenantBytes() int { return max(l.partyBytes, l.bytes/4*3) }

// fitsLocked reports whether a reply fits, into the room and into the parts of its party and of its tenant. A reply of
// more than the room has would never fit; take clips what it reserves to the part of a party for that reason.
func (r *room) fitsLocked(share *roomShare, bytes int) bool {
	l := &r.limits
	return r.mayBuildLocked(share) && r.bytes+bytes <= l.bytes && share.bytes+bytes <= l.partyBytes &&
		r.tenants[share.tenant]+bytes <= l.tenantBytes()
}

// mayBuildLocked reports whether one more reply of a party may be built.
func (r *room) mayBuildLocked(share *roomShare) bool {
	return r.builds < r.limits.builds && share.builds < r.limits.partyBuilds
}

// giveLocked gives a place to a party, which thereby goes to the end of the order of parties.
func (r *room) giveLocked(share *roomShare, bytes int) {
	r.countLocked(share, bytes)
	r.builds++
	share.builds++
	r.turn++
	share.turn = r.turn
}

// passLocked gives places to waiting requests, as long as there are any. Of the requests that fit, the oldest of a
// party comes first, and of several parties the one with the lowest turn. A request that does not fit does not block
// smaller ones of other parties, so a large one may wait longer, but no longer than the room's wait.
func (r *room) passLocked() {
	for {
		next, first := -1, uint64(0)
		for i, w := range r.waiting {
			share := r.parties[w.party]
			if (next < 0 || share.turn < first) && r.fitsWaitLocked(share, w) {
				next, first = i, share.turn
			}
		}
		if next < 0 {
			return
		}
		w := r.waiting[next]
		r.waiting = slices.Delete(r.waiting, next, next+1)
		share := r.parties[w.party]
		share.waiting--
		r.giveLocked(share, w.bytes)
		if w.hold != nil {
			w.hold.building = true
		}
		close(w.given)
	}
}

// fitsWaitLocked reports whether a request that waits may have its place. One that goes on has its bytes.
func (r *room) fitsWaitLocked(share *roomShare, w *roomWait) bool {
	if w.hold != nil {
		return r.mayBuildLocked(share)
	}
	return r.fitsLocked(share, w.bytes)
}
