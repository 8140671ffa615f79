package pad

import (
	"time"

	"github.com/carillon-io/carillon/instant"
	"github.com/carillon-io/carillon/job"
)

// beginTurn records that a launch waits for the turn of its job.
func (w *waiting) beginTurn(now instant.Millis) {
	if w.turnAt = 0; w.parked == 0 {
		w.parked = now
	}
}

// endTurn records that a launch has the turn of its job, unless it had the turn already.
func (w *waiting) endTurn(at time.Time) {
	if w.turnAt == 0 {
		w.turnAt = at.UnixNano()
	}
}

// noteTurn adds to the outcome of an attempt how long its launch waited for its turn. The wait for a turn is part of
// the job's own policy, so it does not count as lateness: lateness begins where it ends.
func (f *inFlight) noteTurn(o *job.Outcome) {
	if f.parked != 0 {
		o.TurnAt = time.Unix(0, f.turnAt)
		o.Turn = max(0, o.TurnAt.Sub(f.parked.Time()))
	}
}
