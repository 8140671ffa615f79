package dispatch

import (
	"time"

	"github.com/carillon-io/carillon/fair"
	"github.com/carillon-io/carillon/job"
)

// finish concludes an attempt with err, nil for success, and reports its outcome. It does nothing if the
// attempt is already concluded.
func (l *ledger) finish(a *attempt, err error) {
	// Outside the mutex, because masking searches the text for each credential.
	ending, how := outcomeOf(a.delivery, err), endingOf(err)
	now := time.Now()
	l.mu.Lock()
	if a.phase == concluded {
		l.mu.Unlock()
		return
	}
	outcome := l.concludeLocked(a, now, ending, how)
	l.mu.Unlock()
	l.report(a, outcome)
}

// dropConcluded removes the concluded attempts from a backlog and keeps the order of the others. Without
// it, attempts that time out while the connection is down would stay in memory until it returns.
func (l *ledger) dropConcluded(backlog *fair.Queue[string, *attempt]) {
	l.mu.Lock()
	defer l.mu.Unlock()
	backlog.Filter(func(a *attempt) bool { return a.phase != concluded })
}

// report calls done and frees what the attempt holds. The caller has concluded the attempt and does not
// hold the mutex, since done is code of the caller of Launch.
//
// done comes first, so that the outcome does not wait for anything. The place follows: an ask that gets it
// is called back after the outcome that freed it. The attempt counts as unreported until all of this is
// done, so that Close does not return before.
func (l *ledger) report(a *attempt, outcome job.Outcome) {
	l.unfollow(a, outcome)
	a.done(outcome)
	if a.abort != nil {
		a.abort()
	}
	l.afterReport(a)
	if l.unreported.Add(-1) == 0 {
		l.mu.Lock()
		l.maybeIdleLocked()
		l.mu.Unlock()
	}
}

// maybeIdleLocked closes idle if the ledger is closed and every done has returned.
func (l *ledger) maybeIdleLocked() {
	if l.closed && !l.isIdle && l.unreported.Load() == 0 {
		l.isIdle = true
		close(l.idle)
	}
}

// concludeLocked removes the attempt from the ledger and returns its outcome, which the caller then
// reports.
func (l *ledger) concludeLocked(a *attempt, now time.Time, ending job.Outcome, how Ending) job.Outcome {
	k := l.countsOf(a)
	if a.phase == sending {
		k.InFlight--
	} else {
		k.Queued--
		k.QueuedBytes -= a.weight()
	}
	l.keepLocked(a, false)
	l.open.Remove(a.place)
	a.phase = concluded
	ending = a.outcome(now, ending)
	l.measure(a, how, ending)
	return ending
}
