package replication

import (
	"slices"
	"time"
)

// tenure is the holder's side of the lease: the instant until which it may launch. Its times are readings of
// the holder's boot clock. Its user guards it.
//
// A node that may take over early, an heir, waits for the end of each of its promises and for the grace after
// the newest renewal that it saw. So the holder may launch while it has the promises of all heirs, and for the
// grace after the beginning of its last renewal. Without heirs it may launch until shortly before its lease
// ends, because all other nodes wait for that end.
//
// Invariant: each of these instants counts from before the holder sent something, and for the other node from
// after it received it. So the holder always stops first.
//
// The zero value trusts nothing, and ignores promises: distrust sets it when another node has the lease.
type tenure struct {
	lease  time.Duration // how long nodes that are not heirs wait after a renewal
	margin time.Duration // part of lease that the holder does not use, since clocks run at different rates
	grace  time.Duration // how long heirs wait after a renewal

	began   time.Duration // when this node began to take the lease
	renewed time.Duration // beginning of the last renewal that succeeded
	tried   time.Duration // beginning of the last renewal

	heirs    []string                 // heirs in the stored lease, and in every renewal that may have been stored instead
	promised map[string]time.Duration // end of each node's promise

	lapse lapse
}

// lapse is a time without trust, which is to begin again. A renewal that is stored shows that no other node has the lease, but
// not that none had it: the bucket can have gone back to what it was before a takeover. The zero value is none.
type lapse struct {
	since  time.Duration // beginning of the first renewal that was stored again; 0: there was no lapse
	ended  bool          // the lease was over, so nodes that are no heirs may have taken it as well
	before time.Duration // who was heard after this instant was there when the trust ended
	lacks  bool          // one of those is not heard, at the last renewal
	lacked time.Duration // instant of the last renewal at which that was so; 0: never
}

// lasts reports whether a renewal that begins now would be too early to end the lapse by itself: who leads may not have been heard
// yet. A node that was there and is silent may lead, and not be heard because it is cut off in turn; it counts for as long as a lease.
func (l lapse) lasts(now, lease time.Duration) bool {
	if l.since == 0 || now-l.since >= lease {
		return l.since != 0 && now-l.since < hearFor
	}
	return now-l.since < hearFor || l.lacks || l.lacked != 0 && now-l.lacked < hearFor
}

// lapses reports whether the trust is not to begin again now by a renewal alone.
func (t *tenure) lapses(now time.Duration) bool { return t.lapse.lasts(now, t.lease) }

// knownAfter returns an instant before the trust ended, or before the last renewal: nodes that were heard since were there then.
func (t *tenure) knownAfter() time.Duration {
	if t.lapse.since != 0 {
		return t.lapse.before
	}
	return t.renewed - beatFresh
}

// driftShare divides a duration: this part of it (a twentieth) is not used, because clocks run at different
// rates. The holder and an heir measure the same grace, so the invariant above holds while their rates differ
// by less than 5 %. A larger part would cover worse clocks, and would end trust earlier.
const driftShare = 20

// heirsMost bounds the number of heirs, and with it the size of the lease and the number of promises on which
// each launch depends. Further standbys, in the order of their names, wait for the end of the lease. heirKept
// is how long a node stays an heir after its last promise has ended: a shorter time would write the lease twice
// for each promise that comes late, a longer one prolongs the time in which renewals alone permit launching.
const (
	heirsMost = 8
	heirKept  = 2 * time.Second
)

// taken returns the tenure of a holder that has begun at an instant to take the lease, in a claim that names heirs. None of them has
// promised anything, so each counts as one whose promise has just ended.
func (t tenure) taken(begun time.Duration, heirs []string) tenure {
	t.began, t.renewed, t.tried, t.heirs = begun, begun, begun, heirs
	t.promised = make(map[string]time.Duration)
	for _, name := range heirs {
		t.promised[name] = begun
	}
	return t
}

// succeeded records that a renewal that began at an instant is stored by now, and the heirs that it names. If the trust has ended
// meanwhile, it begins again at once only where the bucket keeps what it has acknowledged. Elsewhere it begins again once all heirs
// of before promise, as none does that has led since; or, if that does not show it, after hearFor, in which who leads has taken its
// lease back. lacks says that a node which was there when the trust ended, see knownAfter, is not heard: while it is so, that time is
// as long as the lease.
func (t *tenure) succeeded(begun, now time.Duration, heirs []string, keeps, lacks bool) {
	if t.lapse.lacks = lacks && t.lapse.since != 0; t.lapse.lacks {
		t.lapse.lacked = now
	}
	switch trusted := t.until() > now; {
	case keeps, trusted, t.lapse.since != 0 && !t.lapses(begun):
		t.lapse, t.heirs = lapse{}, heirs
	case t.lapse.since == 0:
		t.lapse = lapse{since: begun, ended: t.left(now) == 0, before: t.knownAfter(), lacks: lacks}
	default:
		t.heirs = heirs
	}
	t.renewed = max(t.renewed, begun)
}

// trying records that a renewal begins, and returns the heirs that it will name. Its outcome may stay unknown:
// until a later renewal has succeeded, both the old heirs and the new ones count. A lease that names an heir
// which the holder does not wait for would let that heir claim while the holder launches.
func (t *tenure) trying(now time.Duration) []string {
	t.tried = now
	next := t.successors(now)
	for _, name := range next {
		if !slices.Contains(t.heirs, name) {
			t.heirs = append(slices.Clone(t.heirs), name)
		}
	}
	return next
}

// successors returns the nodes that the next renewal names as heirs: those that promise, and those that did
// until just now.
func (t *tenure) successors(now time.Duration) []string {
	next := []string{}
	for name, end := range t.promised {
		switch listed := slices.Contains(t.heirs, name); {
		case end > now || listed && (end+heirKept > now || t.lapses(now)):
			next = append(next, name)
		case !listed:
			delete(t.promised, name)
		}
	}
	slices.Sort(next)
	return next[:min(len(next), heirsMost)]
}

// keepsHeirs reports whether successors returns the present heirs. It is cheap, because each look at a lease asks.
func (t *tenure) keepsHeirs(now time.Duration) bool {
	if len(t.promised) > heirsMost || !slices.IsSorted(t.heirs) {
		return slices.Equal(t.successors(now), t.heirs)
	}
	for name, end := range t.promised {
		listed := slices.Contains(t.heirs, name)
		if listed && end+heirKept <= now && !t.lapses(now) || !listed && end > now {
			return false
		}
	}
	return !slices.ContainsFunc(t.heirs, func(name string) bool { _, promises := t.promised[name]; return !promises })
}

// promise records that a node will not take the lease for some time. That node counts the time from a later
// instant than stamp, which is an instant of this node's own clock that the promise repeats.
//
// A stamp from before began was given in an earlier leadership, and one from the future by another clock. A
// length above the lease is no promise of a node of this configuration. None of them counts.
func (t *tenure) promise(node string, stamp, length, now time.Duration) {
	if t.lease == 0 || stamp < t.began || stamp > now || length <= 0 || length > t.lease {
		return
	}
	if t.promised == nil {
		t.promised = make(map[string]time.Duration)
	}
	if _, known := t.promised[node]; known || len(t.promised) < peersMost {
		t.promised[node] = max(t.promised[node], stamp+length-length/driftShare)
	}
}

// assured returns the instant until which all heirs promise not to take the lease.
func (t *tenure) assured() time.Duration {
	end := t.renewed + t.lease - t.margin
	for _, name := range t.heirs {
		end = min(end, t.promised[name])
	}
	return end
}

// until returns the instant until which this node may launch. The end of the lease bounds both reasons, because
// nodes that are not heirs promise nothing and wait for that end only.
func (t *tenure) until() time.Duration {
	switch {
	case t.lapse.since == 0:
		return min(t.renewed+t.lease-t.margin, max(t.assured(), t.renewed+t.grace-t.grace/driftShare))
	case t.lapse.ended || len(t.heirs) == 0:
		return 0
	default:
		return t.assured()
	}
}

// left returns how long the lease would last without another renewal; 0 if it has ended.
func (t *tenure) left(now time.Duration) time.Duration {
	return max(0, t.renewed+t.lease-t.margin-now)
}

// The number of renewals in a lease, and in a grace while the promises alone do not permit launching. Each
// renewal is a write that a majority of the NATS servers must have: once a second with the default lease, every
// sixth of a second while renewals carry the launches. So one renewal in a grace may fail before launches stop.
const (
	renewalsOfLease = 15
	renewalsOfGrace = 3
)

// due reports whether a renewal is to begin. It is one sooner if the promises end within half a grace, so that
// the renewal is stored before they do; and if the heirs change, so that a new standby can take over early, and
// one that has gone does not end the trust.
func (t *tenure) due(now time.Duration) bool {
	every := t.lease / renewalsOfLease
	if t.lapse.since != 0 || t.assured() < now+t.grace/2 || !t.keepsHeirs(now) {
		every = min(every, t.grace/renewalsOfGrace)
	}
	return now-t.tried >= every
}

// nextDue returns the first instant at which due can report true, unless another node promises until then.
func (t *tenure) nextDue(now time.Duration) time.Duration {
	early := t.assured() - t.grace/2
	for _, name := range t.heirs {
		early = min(early, t.promised[name]+heirKept)
	}
	if t.lapse.since != 0 || !t.keepsHeirs(now) {
		early = now
	}
	return t.tried + min(t.lease/renewalsOfLease, max(early-t.tried, t.grace/renewalsOfGrace))
}
