package dispatch

import (
	"slices"

	"github.com/carillon-io/carillon/job"
)

// Cancel ends the attempt of a run, if one waits or is under way: a request's context ends, and so does
// a handler's; what waits in a queue does not leave any more; a reply is not waited for. Its done is
// called soon, with the text of [ErrCancelled], unless another outcome was first. The target may have
// taken the run all the same. A handler that ignores its context keeps its place in the lane.
//
// Cancel returns without waiting for anything. A run without an attempt is left alone, and an
// attempt that is launched after Cancel was called is none of its business.
func (d *Dispatcher) Cancel(run job.RunID) { d.ledger.cancel(run) }

// cancel asks watch to end the attempts of a run.
//
// An index of the open attempts by run would cost each launch two operations on a map of up to a
// million entries, for the sake of a call that few launches see. So the runs to cancel are gathered,
// and one search through all that is open serves whatever has gathered: a herd of cancellations
// costs one pass. It holds the mutex only to copy the list, since the run of an attempt never changes.
func (l *ledger) cancel(run job.RunID) {
	l.mu.Lock()
	if len(l.open) > 0 {
		l.cancels[run] = l.accepted
	}
	l.mu.Unlock()
	signal(l.wake)
}

// endCancelled ends the attempts that cancel was called for.
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
