package job

import (
	"time"

	"github.com/carillon-io/carillon/instant"
)

// Run is what the log knows of one run. Live runs are also in memory; final ones are only in the history.
type Run struct {
	ID     RunID
	Status Status
	Reason Reason // of a skip or a cancellation, or of a death before the last attempt

	// Until, on a skipped run, makes it a range: every tick of the job from ID.At to Until was skipped for the same
	// reason. Zero means the one tick at ID.At.
	Until instant.Millis

	Attempt uint32         // number of the current or last attempt; 0 if there was none
	Base    uint32         // attempts before the newest retry by a caller; the retry policy counts from there
	Fence   uint64         // of that attempt
	Due     instant.Millis // when that attempt is to be launched: ID.At, or the retry instant

	// Deadline is when the report must have arrived; 0 unless the run waits for one.
	Deadline instant.Millis
	// Stale counts the reports that were refused because of another fence.
	Stale uint32

	LaunchedAt instant.Millis // of the last attempt
	FinishedAt instant.Millis // when the run became final
	Lateness   time.Duration  // launch of the first attempt minus scheduled time
	Duration   time.Duration  // of the last attempt
	Error      string         // of the last failed attempt
	Result     string

	HasPayload bool // a manual run with its own payload, which is in a row beside it while the run is live

	Dismissal Dismissal // of a dead run; zero unless a caller has dismissed it

	Attempts []Attempt // the finished ones, oldest first, only the newest AttemptsKeptMax
}

// Dismissal is the mark of a dead run that a caller has dealt with. The run stays dead and in the history, but is no
// longer listed among the dead ones. A retry removes the mark.
type Dismissal struct {
	At     instant.Millis // 0: the run is not dismissed
	By     string         // at most ActorBytesMax bytes; "" if the caller gave no name
	Reason string         // at most ReasonBytesMax bytes; may be ""
}

// IsListedDead reports whether the run is among the dead ones that a caller still has to deal with.
func (r *Run) IsListedDead() bool { return r.Status == StatusDead && r.Dismissal.At == 0 }

// Attempt is one finished delivery of a run. Fence and Number identify it within its run; both grow with each
// attempt.
type Attempt struct {
	Number     uint32
	Fence      uint64
	LaunchedAt instant.Millis
	Duration   time.Duration
	Error      string // "" for the one that succeeded
}

// AddAttempt records a finished attempt, and drops the oldest beyond AttemptsKeptMax.
func (r *Run) AddAttempt(a Attempt) {
	if len(r.Attempts) >= AttemptsKeptMax {
		r.Attempts = append(r.Attempts[:0], r.Attempts[1:]...)
	}
	r.Attempts = append(r.Attempts, a)
}
