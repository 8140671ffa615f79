package api

import (
	"context"
	"slices"
	"time"
)

// hold is the place of one reply in a room. A nil hold is no place, and its methods do nothing. Its owner is the request,
// and then the sender of the reply; the parts of a request that run at the same time only call rest.
//
// Invariant: bytes is what the room counts for it. building is true from its beginning until settle or give, but for the
// times in which no part of the request is at work.
type hold struct {
	room      *room
	party     party
	bytes     int
	isSettled bool
	// Guarded by the lock of the room.
	building bool
	atWork   int // parts of the request that compute in this process
}

// newHold returns the place of a request that has just got it.
func newHold(r *room, p party, bytes int) *hold {
	return &hold{room: r, party: p, bytes: bytes, building: true, atWork: 1}
}

// settle ends the building of a reply. The reply keeps the given bytes until give. From then on another request may
// build, though the reply is still in memory: encoding costs processor time, sending does not.
func (h *hold) settle(bytes int) {
	if h != nil && !h.isSettled {
		h.change(bytes)
	}
}

// give frees the place. Further calls do nothing.
func (h *hold) give() {
	if h != nil && (!h.isSettled || h.bytes > 0) {
		h.change(0)
	}
}

// giveAfter calls give after a delay. The delay is a timer and no goroutine that sleeps, so that a thousand slow
// readers cost a thousand timers.
func (h *hold) giveAfter(d time.Duration) {
	if h != nil && d > 0 {
		time.AfterFunc(d, h.give)
		return
	}
	h.give()
}

// change replaces the reserved bytes, ends the building, and passes what became free to waiting requests. It may
// grow a place beyond what was reserved, if the estimate of a reply was too small: the memory is in use already,
// and counting it delays the next requests, as it should.
func (h *hold) change(bytes int) {
	r := h.room
	r.mu.Lock()
	defer r.mu.Unlock()
	share := r.shareLocked(h.party)
	r.countLocked(share, bytes-h.bytes)
	h.bytes, h.isSettled = bytes, true
	h.endBuildLocked(share)
	r.forgetLocked(h.party, share)
	r.passLocked()
}

// endBuildLocked lets another reply be built.
func (h *hold) endBuildLocked(share *roomShare) {
	if h.building {
		h.building = false
		h.room.builds--
		share.builds--
	}
}

// spread adds parts of the request that are at work from now on.
func (h *hold) spread(parts int) {
	h.room.mu.Lock()
	defer h.room.mu.Unlock()
	h.atWork += parts
}

// rest ends the work of one part of the request. When no part is left at work, another reply may be built: a request that
// only waits for other nodes takes no processor time. It keeps its bytes, since it must have room for what comes.
func (h *hold) rest() {
	r := h.room
	r.mu.Lock()
	defer r.mu.Unlock()
	if h.atWork--; h.atWork > 0 || !h.building {
		return
	}
	share := r.shareLocked(h.party)
	h.endBuildLocked(share)
	r.forgetLocked(h.party, share)
	r.passLocked()
}

// wake lets the request go on after a rest, when no part of it is at work, as soon as it may build again. It waits like
// take, before the requests of its party that have no bytes yet, and fails as take does.
func (h *hold) wake(ctx context.Context) error {
	r := h.room
	r.mu.Lock()
	h.atWork++
	share := r.shareLocked(h.party)
	switch {
	case h.building:
		r.mu.Unlock()
		return nil
	case r.mayBuildLocked(share):
		r.giveLocked(share, 0)
		h.building = true
		r.mu.Unlock()
		return nil
	}
	w := &roomWait{party: h.party, hold: h, given: make(chan struct{})}
	first := slices.IndexFunc(r.waiting, func(w *roomWait) bool { return w.hold == nil })
	if first < 0 {
		first = len(r.waiting)
	}
	r.waiting = slices.Insert(r.waiting, first, w)
	share.waiting++
	r.mu.Unlock()
	if !r.await(ctx, w) {
		return errNoRoom()
	}
	return nil
}

// stay is one part of a request that reads, and its work in this process. It belongs to the goroutine of the part. A nil one is that of a
// request that changes something, which keeps its place until it can answer, or of one without a place.
type stay struct {
	hold   *hold
	isAway bool // the part has ended its work here, and waits for another node
}

// stayOf returns the only part of a request, which is at work.
func stayOf(v *Verb, h *hold) *stay {
	if h == nil || !v.reads {
		return nil
	}
	return &stay{hold: h}
}

// leave ends the work of the part in this process. Further calls do nothing.
func (s *stay) leave() {
	if s != nil && !s.isAway {
		s.isAway = true
		s.hold.rest()
	}
}

// split returns parts of the request that take the place of this one, each on a goroutine of its own; back follows when all
// have left.
func (s *stay) split(parts int) []*stay {
	list := make([]*stay, parts)
	if s == nil {
		return list
	}
	for i := range list {
		list[i] = &stay{hold: s.hold}
	}
	s.hold.spread(parts)
	s.leave()
	return list
}

// back lets the part go on. It fails if the request may not build a reply in time.
func (s *stay) back(ctx context.Context) error {
	if s == nil || !s.isAway {
		return nil
	}
	s.isAway = false
	return s.hold.wake(ctx)
}
