package replication

import (
	"sync"
	"time"
)

// promises is the promise of a node to the holder of the lease: not to take the lease until an instant. It is safe
// for concurrent use. A nil *promises belongs to a node that never promises; all its methods may be called.
//
// Invariant: while a claim of this node may be under way, no promise is given. So a holder never trusts a
// promise that a claim is about to break.
type promises struct {
	mu       sync.Mutex
	until    time.Duration // on the boot clock: the node takes no lease before this instant
	claiming bool          // a claim of this node is under way, or may be
	revision uint64        // revision that the claim would replace; the claim is decided once another one is seen
	term     uint64        // term of the lease as this node last saw it

	earlier   bool          // a claim before it, at the same revision, is not decided either
	since     time.Duration // when the claim began
	undecided time.Duration // for how long at most a claim counts as under way; 0: without a bound
}

// newPromises returns the promises of a node; nil for a node that never takes over early and so has nothing to
// promise. The first end lies one promise ahead, because the process before this one may have promised just
// now.
//
// So a restart costs a node at most the chance of an early takeover within that time, and breaks no promise
// that its previous process gave.
func newPromises(o Options) *promises {
	if o.Local {
		return nil
	}
	return &promises{until: o.Boot() + o.promiseTime()}
}

// promise promises the holder of a term not to take the lease for some time, and reports whether this node may
// promise that: not while a claim of this node may be under way, and not once this node has seen a later term,
// which may be its own. It only prolongs: a promise with an earlier end does not shorten one that was given.
func (w *promises) promise(now, length time.Duration, term uint64) bool {
	if w == nil {
		return false
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.mayClaim(now) || term != w.term {
		return false
	}
	w.until = max(w.until, now+length)
	return true
}

// mayClaim reports whether a claim of this node may be under way. The caller holds the mutex.
func (w *promises) mayClaim(now time.Duration) bool {
	return w.claiming && (w.undecided == 0 || now-w.since < w.undecided)
}

// end returns the instant until which this node has promised not to take the lease.
func (w *promises) end() time.Duration {
	if w == nil {
		return 0
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.until
}

// claim notes that this node begins to claim the lease at a revision: from here on it promises nothing.
func (w *promises) claim(now time.Duration, revision uint64) {
	if w != nil {
		w.mu.Lock()
		defer w.mu.Unlock()
		w.earlier = w.claiming && w.revision == revision
		w.claiming, w.since, w.revision = true, now, revision
	}
}

// claimEnded notes that the last claim of this node is not under way any more. One of before may be.
func (w *promises) claimEnded() {
	if w != nil {
		w.mu.Lock()
		defer w.mu.Unlock()
		w.claiming = w.earlier
	}
}

// sees notes a revision of the lease and its term. A claim against another revision can no longer succeed, or
// has already succeeded.
func (w *promises) sees(revision, term uint64) {
	if w == nil {
		return
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	w.term = term
	if w.revision != revision {
		w.claiming, w.earlier = false, false
	}
}
