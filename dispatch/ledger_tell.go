package dispatch

import (
	"container/heap"
	"time"

	"github.com/carillon-io/carillon/fair"
	"github.com/carillon-io/carillon/job"
)

// finish tells the outcome, unless it is told.
func (l *ledger) finish(a *attempt, err error) {
	ending, how := outcomeOf(a.delivery, err), endingOf(err)
	now := time.Now()
	l.mu.Lock()
	if a.phase == told {
		l.mu.Unlock()
		return
	}
	outcome := l.settleLocked(a, now, ending, how)
	l.mu.Unlock()
	l.tell(a, outcome)
}

// dropTold removes the attempts whose outcome is told, keeping the order of the others.
func (l *ledger) dropTold(backlog *fair.Queue[string, *attempt]) {
	l.mu.Lock()
	defer l.mu.Unlock()
	backlog.Filter(func(a *attempt) bool { return a.phase != told })
}

// tell calls done and lets go of what the attempt occupies.
func (l *ledger) tell(a *attempt, outcome job.Outcome) {
	l.unfollow(a, outcome)
	a.done(outcome)
	if a.abort != nil {
		a.abort()
	}
	l.afterTold(a)
	if l.untold.Add(-1) == 0 {
		l.mu.Lock()
		l.maybeIdleLocked()
		l.mu.Unlock()
	}
}

func (l *ledger) maybeIdleLocked() {
	if l.closed && !l.isIdle && l.untold.Load() == 0 {
		l.isIdle = true
		close(l.idle)
	}
}

// settleLocked takes the attempt out of the ledger. The caller tells the outcome.
func (l *ledger) settleLocked(a *attempt, now time.Time, ending job.Outcome, how Ending) job.Outcome {
	k := l.countsOf(a)
	if a.phase == sending {
		k.InFlight--
	} else {
		k.Queued--
		k.QueuedBytes -= a.weight()
	}
	heap.Remove(&l.open, a.place)
	a.phase = told
	ending = a.outcome(now, ending)
	l.measure(a, how, ending)
	return ending
}
