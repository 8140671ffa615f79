package dispatch

import (
	"fmt"
	"math"
	"time"

	"github.com/carillon-io/carillon/job"
)

// verdict is the outcome of a concluded attempt that is still to be reported.
type verdict struct {
	attempt *attempt
	outcome job.Outcome
}

// watch concludes attempts that are cancelled or whose deadline has passed, and reports their outcomes,
// until stop is closed. One timer serves all attempts: a timer for each would cost every launch two
// operations of the runtime's timers, although few attempts reach their deadlines.
func (l *ledger) watch(stop <-chan struct{}) {
	timer := time.NewTimer(math.MaxInt64)
	defer timer.Stop()
	for {
		l.endCancelled()
		verdicts, wait := l.expire(time.Now())
		l.reportAll(verdicts)
		timer.Reset(wait)
		select {
		case <-timer.C:
		case <-l.wake:
		case <-stop:
			return
		}
	}
}

// expire concludes the overdue attempts. It returns their verdicts, and the time until the next deadline.
// It sets the alarm in the same critical section, so that a launch with an earlier deadline always wakes
// watch.
func (l *ledger) expire(now time.Time) ([]verdict, time.Duration) {
	elapsed := now.Sub(l.start)
	l.mu.Lock()
	defer l.mu.Unlock()
	var out []verdict
	for len(l.open) > 0 && l.open[0].deadline <= elapsed {
		a := l.open[0]
		out = append(out, verdict{a, l.concludeLocked(a, now, outcomeOf(a.delivery, l.overdueError(a)), EndedTimeout)})
	}
	if len(l.open) == 0 {
		l.alarm = math.MaxInt64
		return out, math.MaxInt64
	}
	l.alarm = l.open[0].deadline
	return out, l.alarm - elapsed
}

// overdueError returns the error for an overdue attempt; it says what the attempt waited for.
func (l *ledger) overdueError(a *attempt) error {
	switch {
	case a.phase == linking && a.setback != nil:
		return a.setback
	case a.phase == linking:
		return fmt.Errorf("the connection to NATS was down for %s", a.timeout())
	case a.kind() == job.TargetNATS:
		return fmt.Errorf("the NATS server did not confirm within %s", a.timeout())
	default:
		return errNoAnswer(a)
	}
}

// errNoAnswer returns the error for an attempt whose target has not answered within its timeout.
func errNoAnswer(a *attempt) error {
	return timeoutError{fmt.Errorf("no answer within %s", a.timeout())}
}

// close makes the ledger refuse new attempts, and ends those that have not begun. It may be called
// again.
func (l *ledger) close() {
	l.mu.Lock()
	l.closed = true
	verdicts := l.stopLocked(func(a *attempt) bool { return a.phase != sending })
	l.maybeIdleLocked()
	l.mu.Unlock()
	l.reportAll(verdicts)
}

// stop ends all attempts that are still open after close, and returns their number.
func (l *ledger) stop() int {
	l.mu.Lock()
	verdicts := l.stopLocked(func(*attempt) bool { return true })
	l.mu.Unlock()
	l.reportAll(verdicts)
	return len(verdicts)
}

// stopLocked concludes the open attempts that which selects with ErrStopped, and returns their verdicts.
func (l *ledger) stopLocked(which func(*attempt) bool) []verdict {
	var ending []*attempt
	for _, a := range l.open {
		if which(a) {
			ending = append(ending, a)
		}
	}
	now := time.Now()
	out := make([]verdict, len(ending))
	for i, a := range ending {
		out[i] = verdict{a, l.concludeLocked(a, now, outcomeOf(a.delivery, ErrStopped), EndedStopped)}
	}
	return out
}

// reportAll reports verdicts. The caller does not hold the mutex.
func (l *ledger) reportAll(verdicts []verdict) {
	for _, v := range verdicts {
		l.report(v.attempt, v.outcome)
	}
}
