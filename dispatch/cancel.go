package dispatch

import (
	"slices"

	"github.com/carillon-io/carillon/job"
)

// Cancel ends the attempt of a run, if one waits or is under way. The context of an HTTP request or a
// handler ends; an attempt that waits in a queue is not sent; the reply to a request is no longer
// awaited. Its done is called soon with the text of [ErrCancelled], unless another outcome came first.
// The target may nevertheless have accepted the run. A handler that ignores its context keeps its place
// in the lane until it returns.
//
// Cancel does not wait for any of this. It has no effect on a run without an attempt, nor on an attempt
// that is launched after the call.
func (d *Dispatcher) Cancel(run job.RunID) { d.ledger.cancel(run) }

// cancel asks the goroutine of watch to end the attempts of a run.
//
// An index of the open attempts by run would cost each launch two operations on a map of up to a million
// entries, although few launches are cancelled. So the ledger collects the runs to cancel, and one
// search through all open attempts serves all of them: many cancellations at once cost one pass. The
// search holds the mutex only while it copies the list, since the run of an attempt never changes.
func (l *ledger) cancel(run job.RunID) {
	l.mu.Lock()
	if len(l.open) > 0 {
		l.cancels[run] = l.accepted
	}
	l.mu.Unlock()
	signal(l.wake)
}

// endCancelled ends the attempts for which cancel was called.
func (l *ledger) endCancelled() {
	l.mu.Lock()
	if len(l.cancels) == 0 {
		l.mu.Unlock()
		return
	}
	runs, open := l.cancels, slices.Clone(l.open)
	l.cancels = make(map[job.RunID]uint64)
	l.mu.Unlock()
	for _, a := range open {
		if last, ok := runs[a.delivery.Run]; ok && a.number <= last {
			l.finish(a, ErrCancelled)
		}
	}
}
