package dispatch

import (
	"container/heap"
	"context"
	"math"
	"sync"
	"sync/atomic"
	"time"

	"github.com/carillon-io/carillon/histogram"
	"github.com/carillon-io/carillon/job"
)

// ledger holds every attempt from its launch until its outcome is told, and tells the outcome when a
// deadline passes before a sender speaks.
//
// Invariant: an attempt is in open exactly while its phase is not told; whoever makes it told calls
// its done, once, without the mutex.
//
// Invariant: counts of queued and in flight are those of the attempts in open.
type ledger struct {
	start     time.Time      // deadlines count from here, on the monotonic clock
	afterTold func(*attempt) // called after done
	tracer    Tracer         // nil: nobody follows the attempts

	mu       sync.Mutex
	open     deadlines
	accepted uint64               // number of the newest attempt
	cancels  map[job.RunID]uint64 // runs to cancel: their attempts up to a number
	alarm    time.Duration        // when watch wakes next
	closed   bool
	isIdle   bool
	idle     chan struct{} // closed when the ledger is closed and every outcome is told
	kinds    [job.TargetHandler + 1]KindStats
	took     [job.TargetHandler + 1]histogram.Times // from launch to answer; has no need of the mutex

	untold atomic.Int64  // attempts whose done has not returned
	wake   chan struct{} // tells watch of a deadline before its alarm, or of a run to cancel
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

// accept enters a fresh attempt, or says why not. Until it begins, it has as much time as for its answer.
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
	heap.Push(&l.open, a)
	l.untold.Add(1)
	l.unlockAndSound()
	return nil
}

// begin notes that the sender begins now, and starts the attempt's timeout. It returns false if the
// outcome is told already. With an abort, a goroutine carries the attempt: abort is called when
// the outcome is told, and the goroutine leaves the lane itself.
func (l *ledger) begin(a *attempt, abort context.CancelFunc) bool {
	span := l.follow(a)
	now := time.Now()
	l.mu.Lock()
	if a.phase == told {
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
	a.patience = a.deadline
	l.rescheduleLocked(a)
	l.unlockAndSound()
	return true
}

// retreat undoes begin for an attempt that found the connection down: nothing was sent.
func (l *ledger) retreat(a *attempt) {
	l.mu.Lock()
	if a.phase == sending {
		k := l.countsOf(a)
		k.InFlight--
		k.Queued++
		k.QueuedBytes += a.weight()
		a.phase, a.began, a.deadline = linking, time.Time{}, a.patience
		heap.Fix(&l.open, a.place)
	}
	l.unlockAndSound()
}

// rescheduleLocked gives the attempt its whole timeout from now on.
func (l *ledger) rescheduleLocked(a *attempt) {
	a.deadline = time.Since(l.start) + a.timeout()
	heap.Fix(&l.open, a.place)
}

// unlockAndSound unlocks the mutex, and wakes watch if a deadline is now before its alarm.
func (l *ledger) unlockAndSound() {
	sound := len(l.open) > 0 && l.open[0].deadline < l.alarm
	if sound {
		l.alarm = l.open[0].deadline
	}
	l.mu.Unlock()
	if sound {
		signal(l.wake)
	}
}

func (l *ledger) countsOf(a *attempt) *KindStats {
	if k := a.kind(); int(k) < len(l.kinds) {
		return &l.kinds[k]
	}
	return &l.kinds[0]
}
