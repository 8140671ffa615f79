package dispatch

import (
	"errors"

	"github.com/carillon-io/carillon/job"
)

// Ending is how an attempt ended, as [KindStats] counts them. Its text is a word for a label.
type Ending uint8

// The endings of an attempt.
const (
	EndedOK        Ending = iota // the target took it
	EndedFailed                  // the target said so, or was not reached
	EndedRefused                 // the fault is with the request: another attempt would fail alike
	EndedTimeout                 // no answer or no connection came in time
	EndedCancelled               // by Cancel
	EndedStopped                 // by Close
	Endings                      // how many there are
)

var endingNames = [Endings]string{"ok", "failed", "refused", "timeout", "cancelled", "stopped"}

// String returns the word for an ending.
func (e Ending) String() string { return endingNames[e] }

// timeoutError says that something did not come in time.
type timeoutError struct{ error }

// endingOf tells how an attempt ended by the error that ended it.
func endingOf(err error) Ending {
	switch {
	case err == nil:
		return EndedOK
	case errors.Is(err, ErrCancelled):
		return EndedCancelled
	case errors.Is(err, ErrStopped):
		return EndedStopped
	}
	if _, late := errors.AsType[timeoutError](err); late {
		return EndedTimeout
	}
	if failureOf(err).Refused {
		return EndedRefused
	}
	return EndedFailed
}

// measure counts an attempt that has ended, and for how long its target had it if it left.
func (l *ledger) measure(a *attempt, how Ending, o job.Outcome) {
	k := l.countsOf(a)
	if k.Ended[how]++; how == EndedOK {
		k.Delivered++
	} else {
		k.Failed++
	}
	if kind := int(a.kind()); !o.LaunchedAt.IsZero() && kind < len(l.took) {
		l.took[kind].Record(o.Duration)
	}
}
