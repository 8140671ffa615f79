package dispatch

import (
	"context"
	"math"
	"sync"
	"sync/atomic"
	"time"

	"github.com/carillon-io/carillon/histogram"
	"github.com/carillon-io/carillon/job"
)

// ledger holds every attempt from its launch until it is concluded. It concludes an attempt itself when
// its deadline passes before a sender has returned a result. It is safe for concurrent use.
//
// Invariant: an attempt is in open exactly while its phase is not concluded. The goroutine that sets the
// phase to concluded calls the attempt's done, once, without holding the mutex.
//
// Invariant: counts of queued and in flight are those of the attempts in open.
type ledger struct {
	start       time.Time      // deadlines count from here, on the monotonic clock
	afterReport func(*attempt) // called after done
	isCrowded   func() bool    // launches wait for the places of other attempts
	tracer      Tracer         // nil: attempts are not traced

	// mu is held for a few steps only, since every launch needs it: never during a call of done, of a tracer or of
	// a sender.
	mu       sync.Mutex
	open     deadlines
	accepted uint64               // number of the newest attempt
	cancels  map[job.RunID]uint64 // runs to cancel, with the number of the newest attempt to end
	alarm    time.Duration        // when watch wakes next, counted from start; a launch with a later deadline need not wake it
	closed   bool                 // no further attempt is accepted
	isIdle   bool                 // idle is closed
	idle     chan struct{}        // closed when the ledger is closed and every done has returned
	kinds    [job.TargetHandler + 1]KindStats
	took     [job.TargetHandler + 1]histogram.Times // from launch to answer; not guarded by mu

	unreported atomic.Int64  // attempts whose done has not returned
	wake       chan struct{} // wakes watch for a deadline before its alarm, or for a run to cancel
}

func newLedger(o Options) *ledger {
	return &ledger{
		start:   time.Now(),
		tracer:  o.Tracer,
		cancels: make(map[job.RunID]uint64),
		alarm:   math.MaxInt64,
		idle:    make(chan struct{}),
		wake:    make(chan struct{}, 1),
	}
}

// accept adds a new attempt, or returns ErrStopped. The attempt may wait for its beginning as long as for
// its answer: its timeout. The number of open attempts has no bound here, because each has a place.
func (l *ledger) accept(a *attempt) error {
	a.phase, a.deadline = starting, time.Since(l.start)+a.timeout()
	if kind := a.kind(); kind != job.TargetHTTP && kind != job.TargetHandler {
		a.phase = linking
	}
	l.mu.Lock()
	if l.closed {
		l.mu.Unlock()
		return ErrStopped
	}
	k := l.countsOf(a)
	k.Queued++
	k.QueuedBytes += a.weight()
	l.accepted++
	a.number = l.accepted
	l.open.Push(a)
	l.unreported.Add(1)
	l.unlockAndWake()
	return nil
}

// begin records that the sender begins now, and starts the attempt's timeout. It returns false if the
// attempt is already concluded; then the sender must not begin. abort is not nil if a goroutine carries
// the attempt: the ledger calls it when the attempt is concluded, and that goroutine releases the
// attempt's place itself.
func (l *ledger) begin(a *attempt, abort context.CancelFunc) bool {
	// Before the mutex, because a tracer is code of the caller. If the attempt is concluded, the span is
	// dropped.
	span := l.follow(a)
	now := time.Now()
	l.mu.Lock()
	if a.phase == concluded {
		l.mu.Unlock()
		return false
	}
	if a.followed != nil {
		a.followed.span = span
	}
	k := l.countsOf(a)
	k.Queued--
	k.QueuedBytes -= a.weight()
	k.InFlight++
	a.phase, a.began, a.abort, a.carried = sending, now, abort, abort != nil
	l.keepLocked(a, false)
	a.patience = a.deadline
	l.rescheduleLocked(a)
	l.unlockAndWake()
	return true
}

// retreat undoes begin for an attempt that nobody has received, because the connection is down, or else for the given reason. Its
// patience goes on, so that reconnects do not prolong its wait.
func (l *ledger) retreat(a *attempt, reason error) {
	l.mu.Lock()
	if a.phase == sending {
		if a.setback = reason; reason != nil && a.first.IsZero() {
			a.first = a.began
		}
		l.keepLocked(a, reason != nil)
		k := l.countsOf(a)
		k.InFlight--
		k.Queued++
		k.QueuedBytes += a.weight()
		a.phase, a.began, a.deadline = linking, time.Time{}, a.patience
		l.open.Fix(a.place)
	}
	l.unlockAndWake()
}

// keepLocked tells the gate of an attempt whether it waits.
func (l *ledger) keepLocked(a *attempt, waits bool) {
	switch {
	case waits && !a.kept:
		a.delivery.Gate.Keep(1)
	case !waits && a.kept:
		a.delivery.Gate.Keep(-1)
	}
	a.kept = waits
}

// patienceOf returns how long an attempt that has begun could still wait to begin.
func (l *ledger) patienceOf(a *attempt) time.Duration {
	l.mu.Lock()
	defer l.mu.Unlock()
	return a.patience - time.Since(l.start)
}

// leaveForNobody takes in that a message is delivered, though nobody receives it. It was launched when it was first sent.
func (l *ledger) leaveForNobody(a *attempt) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if a.phase == sending && !a.first.IsZero() {
		a.began = a.first
	}
}

// rescheduleLocked sets the attempt's deadline to its whole timeout from now.
func (l *ledger) rescheduleLocked(a *attempt) {
	a.deadline = time.Since(l.start) + a.timeout()
	l.open.Fix(a.place)
}

// unlockAndWake unlocks the mutex, and wakes watch if a deadline is now before its alarm.
func (l *ledger) unlockAndWake() {
	sound := len(l.open) > 0 && l.open[0].deadline < l.alarm
	if sound {
		l.alarm = l.open[0].deadline
	}
	l.mu.Unlock()
	if sound {
		signal(l.wake)
	}
}

// countsOf returns the counters of the attempt's kind. The caller holds the mutex.
func (l *ledger) countsOf(a *attempt) *KindStats {
	if k := a.kind(); int(k) < len(l.kinds) {
		return &l.kinds[k]
	}
	return &l.kinds[0]
}
