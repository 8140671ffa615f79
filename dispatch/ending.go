package dispatch

import (
	"errors"

	"github.com/carillon-io/carillon/job"
)

// Ending says how an attempt ended; [KindStats] counts attempts by it. Its String is the value of a
// metric's label.
type Ending uint8

// The endings of an attempt.
const (
	EndedOK        Ending = iota // the target accepted the run
	EndedFailed                  // the target reported a failure, or could not be reached
	EndedRefused                 // the request is at fault: another attempt would fail in the same way
	EndedTimeout                 // no answer, or no connection, within the timeout
	EndedCancelled               // ended by Cancel
	EndedStopped                 // ended by Close
	EndedBarred                  // not sent: the tenant may not have the target
	Endings                      // the number of endings
)

var endingNames = [Endings]string{"ok", "failed", "refused", "timeout", "cancelled", "stopped", "not_allowed"}

// String returns the word for an ending.
func (e Ending) String() string { return endingNames[e] }

// timeoutError marks an error as a timeout, so that endingOf returns EndedTimeout.
type timeoutError struct{ error }

// endingOf returns the ending for the error that ended an attempt; nil means EndedOK.
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
	switch f := failureOf(err); {
	case f.died == job.ReasonTarget:
		return EndedBarred
	case f.Refused:
		return EndedRefused
	}
	return EndedFailed
}

// measure counts an attempt that has ended. If it was sent, it also records how long the attempt took.
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
