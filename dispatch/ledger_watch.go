package dispatch

import (
	"fmt"
	"math"
	"time"

	"github.com/carillon-io/carillon/job"
)

// verdict is an outcome that waits to be told.
type verdict struct {
	attempt *attempt
	outcome job.Outcome
}

// watch tells the outcome of attempts that are cancelled or whose deadline has passed, until stop is
// closed.
func (l *ledger) watch(stop <-chan struct{}) {
	timer := time.NewTimer(math.MaxInt64)
	defer timer.Stop()
	for {
		l.endCancelled()
		verdicts, wait := l.expire(time.Now())
		l.tellAll(verdicts)
		timer.Reset(wait)
		select {
		case <-timer.C:
		case <-l.wake:
		case <-stop:
			return
		}
	}
}

// expire settles what is overdue and returns how long there is nothing more to do.
func (l *ledger) expire(now time.Time) ([]verdict, time.Duration) {
	elapsed := now.Sub(l.start)
	l.mu.Lock()
	defer l.mu.Unlock()
	var out []verdict
	for len(l.open) > 0 && l.open[0].deadline <= elapsed {
		a := l.open[0]
		out = append(out, verdict{a, l.settleLocked(a, now, outcomeOf(a.delivery, l.lateness(a)), EndedTimeout)})
	}
	if len(l.open) == 0 {
		l.alarm = math.MaxInt64
		return out, math.MaxInt64
	}
	l.alarm = l.open[0].deadline
	return out, l.alarm - elapsed
}

// lateness says what an overdue attempt waited for.
func (l *ledger) lateness(a *attempt) error {
	switch {
	case a.phase == linking:
		return fmt.Errorf("the connection to NATS was down for %s", a.timeout())
	case a.kind() == job.TargetNATS:
		return fmt.Errorf("the NATS server did not confirm within %s", a.timeout())
	default:
		return errNoAnswer(a)
	}
}

func errNoAnswer(a *attempt) error {
	return timeoutError{fmt.Errorf("no answer within %s", a.timeout())}
}

// close refuses attempts from now on and ends those that have not begun. It may be called again.
func (l *ledger) close() {
	l.mu.Lock()
	l.closed = true
	verdicts := l.stopLocked(func(a *attempt) bool { return a.phase != sending })
	l.maybeIdleLocked()
	l.mu.Unlock()
	l.tellAll(verdicts)
}

// stop ends whatever is still open, after close, and returns how many there were.
func (l *ledger) stop() int {
	l.mu.Lock()
	verdicts := l.stopLocked(func(*attempt) bool { return true })
	l.mu.Unlock()
	l.tellAll(verdicts)
	return len(verdicts)
}

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
		out[i] = verdict{a, l.settleLocked(a, now, outcomeOf(a.delivery, ErrStopped), EndedStopped)}
	}
	return out
}

func (l *ledger) tellAll(verdicts []verdict) {
	for _, v := range verdicts {
		l.tell(v.attempt, v.outcome)
	}
}
