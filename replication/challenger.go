package replication

import (
	"slices"
	"strings"
	"time"
)

// challenger is what a node that may take the lease knows about it, and when it may take it. It is for one
// goroutine, except word. All its times are readings of this node's boot clock.
//
// Invariant: an heir claims the lease early only after the ends of its own promises and the grace after the
// newest renewal that it saw. By then the holder, which counts both from an earlier instant, launches nothing.
type challenger struct {
	node       string
	process    string // process of this node
	lease      time.Duration
	grace      time.Duration // between two findings that the holder is absent, and after a renewal
	takesEarly bool          // heirs may take over before the end of the lease; only where every commit must be in the stream, whose order then fences the old leader
	// cautious says that the cluster existed before: a lease that is missing may have been lost, and its holder
	// may still launch.
	cautious bool
	promises *promises // what this node has promised to the holder

	key func() uint64 // revision of the key that a claim replaces; nil: that of the lease

	value    leaseValue
	revision uint64        // 0: there is no lease, and value is the last one that was seen
	seen     time.Duration // when this revision was first seen
	missed   time.Duration // when the lease was first found missing; 0: the node has not read it, or there was one
	back     time.Duration // when the bucket was last found to have gone back; 0: never
	newest   uint64        // greatest term that was known then
	hears    time.Duration // since when this node sees each renewal that is stored: of before, NATS may have lost some; 0: always
	silence

	// before is the process that held the lease when this process first saw it. If that process is this node's,
	// it was an earlier run of this node. Any other process of this node's name runs beside this one.
	before   string
	observed bool
}

// silence counts the questions that the holder has not answered. A reply resets all of it; so does a lease with
// another holder, process or term. Two reasons for a takeover are distinguished: gone says that the process is
// dead, mute and unheard only that it is silent.
type silence struct {
	mute     time.Duration // instant of the first question in a row without an answer; 0: the last question had one
	unheard  int           // questions without an answer since then
	renewals int           // renewals that were seen since then
	silent   time.Duration // instant from which the holder was found absent; 0: it answers, or may be there
	gone     bool          // the holder was found absent again after the grace
}

// outcome is the result of a question to the holder.
type outcome int

const (
	answered   outcome = iota
	unanswered         // no reply in time: the holder may be slow, cut off or dead
	absent             // no process answers for the holder, or the one that does no longer holds the lease
)

// saw records a revision of the lease. A revision that is not newer changes nothing, unless its value is newer:
// then the bucket was made anew, and its revisions began again.
func (r *challenger) saw(now time.Duration, revision uint64, v leaseValue) {
	if r.revision != 0 && (revision < r.revision && !v.after(r.value) || revision == r.revision && v.same(r.value)) {
		return
	}
	if v.Node != r.value.Node || v.Process != r.value.Process || v.Term != r.value.Term || revision < r.revision || r.revision == 0 {
		r.silence = silence{}
	}
	if r.mute != 0 {
		r.renewals++
	}
	r.revision, r.value, r.seen, r.missed = revision, v, now, 0
	r.tellPromises(now)
	if !r.observed {
		r.observed, r.before = true, v.Process
	}
}

// keyOf returns the revision that a claim replaces where the lease has a revision: with several shards the renewals of a node change
// the lease, and not the key of the shard.
func (r *challenger) keyOf(revision uint64) uint64 {
	if r.key == nil || revision == 0 {
		return revision
	}
	return r.key()
}

// spoiled records that a foreign program has overwritten the lease. The lease counts as renewed at that moment.
// The node that takes it, or the holder that renews it, replaces this revision.
func (r *challenger) spoiled(now time.Duration, revision uint64) {
	if revision > r.revision {
		r.revision, r.seen = revision, now
		r.tellPromises(now)
	}
}

// tellPromises says which state of the lease this node sees. While that may be of the past, its holder may have been replaced, by this
// node too: then nothing is promised to that.
func (r *challenger) tellPromises(now time.Duration) {
	term := r.value.Term
	if r.isPast(now) {
		term = r.newest
	}
	r.promises.sees(r.keyOf(r.revision), term)
}

// vanished records that the bucket has no lease. If there was one, the bucket was made anew; the holder does
// not know that yet, so it gets as much time as after a renewal.
func (r *challenger) vanished(now time.Duration) {
	if r.revision != 0 {
		r.revision, r.seen, r.silence = 0, now, silence{}
	}
	if r.missed == 0 {
		r.missed = now
	}
}

// wentBack records that at an instant the bucket was found to have gone back, as when a NATS that does not sync loses power, or
// to be made anew. What it shows is of the past until it shows no earlier term than before, as when the leader has written its
// lease again, or a lease is over: another node may have led since, and still launch.
func (r *challenger) wentBack(now, at time.Duration) {
	r.vanished(now)
	r.back, r.newest = at, max(r.newest, r.value.Term)
}

// passed records that this node has led by a term, and has just learned that another node has begun a later epoch. That one has
// claimed a later term, so what the bucket shows is of the past until it shows that.
func (r *challenger) passed(now time.Duration, term uint64) {
	if r.newest = max(r.newest, term+1); r.value.Term < r.newest {
		r.wentBack(now, now)
	}
}

// isPast reports whether what the bucket shows may be of the past.
func (r *challenger) isPast(now time.Duration) bool {
	return r.back != 0 && now-r.back < r.lease && r.value.Term < r.newest
}

// unseen reports whether this node has not found out yet whether there is a lease.
func (r *challenger) unseen() bool { return r.revision == 0 && r.missed == 0 }

// isCalm reports whether another node holds the lease, renews it and answers.
func (r *challenger) isCalm(now time.Duration) bool {
	return r.revision != 0 && r.value.Node != r.node && !r.value.Released && r.silence == silence{} && now-r.seen < rereadAfter
}

// heard records the outcome of a question to the holder.
func (r *challenger) heard(now time.Duration, o outcome) {
	if o == answered {
		r.silence = silence{}
		return
	}
	r.unheard++
	if r.mute == 0 {
		r.mute = now
	}
	switch {
	case o == unanswered:
		r.silent, r.gone = 0, false
	case r.silent == 0:
		r.silent = now
	default:
		r.gone = now-r.silent >= r.grace
	}
}

// claimReason returns the reason for which this node may take the lease now; "" if it may not. The cases are in
// the order of what is known for sure: first whether there is a lease at all, then its age, and then what its
// value permits, unless it is of the past. isLed says that a node other than the one which has the lease is heard to lead: then it is.
func (r *challenger) claimReason(now time.Duration, isLed bool) string {
	switch {
	case r.revision == 0 && r.value.Node == "" && r.cautious && (r.missed == 0 || now-max(r.missed, r.hears) < r.lease):
		return "" // a lease may have existed until just now, and its holder may still trust it
	case r.revision == 0 && r.value.Node == "":
		return "no node holds the lease"
	case r.age(now) >= r.lease:
		return r.value.Node + " has not renewed the lease"
	case r.revision == 0, isLed, r.isPast(now): // the present holder is unknown
		return ""
	case r.value.Released:
		if r.value.To == "" || r.value.To == r.node || r.age(now) >= handoverTime {
			return r.value.Node + " has given the lease up"
		}
		return ""
	case r.value.Node == r.node && (r.value.Process == r.process || r.value.Process == r.before):
		return "the lease is this node's from before"
	default:
		return r.early(now)
	}
}

// age returns how long the lease was not renewed, as far as this node can know.
func (r *challenger) age(now time.Duration) time.Duration { return now - max(r.seen, r.hears) }

// inherits reports whether this node is an heir of the holder, or whether nodes like it never take over early.
func (r *challenger) inherits() bool {
	return !r.takesEarly || r.value.Heirs == nil || slices.Contains(r.value.Heirs, heirOf(r.node, r.process))
}

// A holder is dead once it was found absent twice, a grace apart: a connection that breaks and returns is
// absent for a moment too. A holder that does not answer may only be slow: it gets this many graces, and this
// many questions. So does a holder whose renewals still arrive, because then only this node is cut off from it.
// The questions are counted because time passes without any while this node itself stands still.
const (
	stillGraces = 5
	stillAsked  = 8
)

// early returns the reason for which an heir may take the lease before the lease ends; "" if it may not. The
// heir has waited for the ends of its promises and for the grace after the newest renewal, so the holder
// launches nothing any more.
func (r *challenger) early(now time.Duration) string {
	wait := r.grace
	if r.renewals > 1 {
		wait = stillGraces * r.grace
	}
	switch {
	case !r.takesEarly || r.age(now) < wait:
		return ""
	case !r.inherits() || r.value.Heirs != nil && now < r.promises.end():
		return ""
	case r.gone:
		return "no process answers for " + r.value.Node
	case r.value.Heirs != nil && r.unheard >= stillAsked && now-r.mute >= stillGraces*r.grace && r.age(now) >= stillGraces*r.grace:
		return r.value.Node + " stands still, or is cut off"
	default:
		return ""
	}
}

// handoverTime is how long only the node for which the lease was given up may take it. If that node fails at
// this very moment, the takeover waits as long; a shorter time could let another node be faster than the one
// that the leader chose for its log.
const handoverTime = 2 * time.Second

// claim returns the lease with this node as the holder. A lease that was given up for this node says which heirs the claim names;
// otherwise it names none: a node becomes one by promising.
func (r *challenger) claim(cluster ClusterID) leaseValue {
	v := leaseValue{Cluster: cluster.String(), Node: r.node, Process: r.process, Term: r.value.Term + 1, Heirs: []string{}}
	if r.value.Released && r.value.To == r.node {
		v.Heirs = withoutNode(r.value.Heirs, r.node)
	}
	return v
}

// withoutNode returns the heirs that are no processes of a node.
func withoutNode(heirs []string, node string) []string {
	others := []string{}
	for _, heir := range heirs {
		if name, _, _ := strings.Cut(heir, "/"); name != node {
			others = append(others, heir)
		}
	}
	return others
}
