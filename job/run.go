package job

import "time"

// Run is what the log knows of one run. Live runs (not final) are in memory too; final ones only in
// the history.
type Run struct {
	ID     RunID
	Status Status
	Reason Reason // of a skip or a cancellation

	// Until, on a skipped run, makes it a range: every tick of the job from ID.At to Until was
	// skipped for the same reason. Zero is the one tick.
	Until Millis

	Attempt uint32 // number of the current or last attempt; 0 if there was none
	Base    uint32 // attempts before the newest retry by hand: the retry policy counts from there
	Fence   uint64 // of that attempt
	Due     Millis // when that attempt is launched: ID.At, or the retry instant

	// Deadline is when a report must have come; 0 unless the run is with a worker who is to report.
	Deadline Millis
	// Stale counts the reports that were refused because they came with another fence.
	Stale uint32

	LaunchedAt Millis        // of the last attempt
	FinishedAt Millis        // when the run became final
	Lateness   time.Duration // launch of the first attempt minus scheduled time
	Duration   time.Duration // of the last attempt
	Error      string        // of the last failed attempt
	Result     string

	HasPayload bool // a manual run with a payload of its own, in a row beside it while it is live

	Attempts []Attempt // the finished ones, oldest first, at most AttemptsKeptMax of the newest
}

// Attempt is one finished delivery of a run.
type Attempt struct {
	Number     uint32
	Fence      uint64
	LaunchedAt Millis
	Duration   time.Duration
	Error      string // "" for the one that succeeded
}

// AddAttempt records a finished attempt, dropping the oldest beyond AttemptsKeptMax.
func (r *Run) AddAttempt(a Attempt) {
	if len(r.Attempts) >= AttemptsKeptMax {
		r.Attempts = append(r.Attempts[:0], r.Attempts[1:]...)
	}
	r.Attempts = append(r.Attempts, a)
}
