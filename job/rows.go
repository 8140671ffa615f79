package job

import (
	"github.com/carillon-io/carillon/instant"
	"github.com/carillon-io/carillon/schedule"
)

// Record is the cold row of a job: what only readers and deliveries need. It stays in the store: with its payload it
// may have hundreds of kilobytes, and a million of them would not fit into memory.
type Record struct {
	Stamp
	Def Definition
}

// Stamp is what the engine stores beside the definition of a job.
type Stamp struct {
	ID        ID
	Version   uint32 // counts the puts, pauses and resumes of the job, from 1
	CreatedAt instant.Millis
	UpdatedAt instant.Millis
	Anchor    instant.Millis // a point on the grid of an @every schedule

	// Origin is the span of the request that registered the present definition, if that was traced and sampled. It is
	// not part of the definition: it is neither compared nor shown.
	Origin TraceContext
}

// Timer is the hot row of a job: what its decisions need. Profile refers to an interned Profile. The engine keeps it
// in memory for every job, so each byte counts as often as there are jobs.
type Timer struct {
	Profile uint32
	Cursor  instant.Millis // every tick before it is decided; the next tick, if the job is active
	Last    instant.Millis // no tick after it was ever decided, also not by an earlier schedule, and no run is scheduled later; 0: none
	Version uint32
	Runs    uint32 // fired runs of the schedule, for MaxRuns
	Manual  uint32 // manual runs so far, which is the Seq of the newest
	Flags   TimerFlags
}

// TimerFlags are the bits of a hot row.
type TimerFlags uint8

// The bits of a hot row. A job with neither Paused, Completed nor Failed is active, and armed at its
// cursor.
const (
	FlagPaused     TimerFlags = 1 << iota
	FlagCompleted             // no tick will come
	FlagFailed                // its schedule cannot be evaluated; the note says why
	FlagLastManual            // the run at Last is a manual one, mostly the one numbered Manual
	FlagDead                  // the run that ended last is dead: the job, if completed, is kept as long as its history
)

// Is reports whether any of the given bits is set.
func (f TimerFlags) Is(bits TimerFlags) bool { return f&bits != 0 }

// JobStatus returns the API's word for the state of a job with these bits.
func (f TimerFlags) JobStatus() string {
	switch {
	case f.Is(FlagFailed):
		return "failed"
	case f.Is(FlagCompleted):
		return "completed"
	case f.Is(FlagPaused):
		return "paused"
	default:
		return "active"
	}
}

// LastRun returns the identity of the job's newest run, and whether there is one. There may be no run with this
// identity: if it is part of a skipped range, or if manual runs for earlier times followed it.
func (t Timer) LastRun(id ID) (RunID, bool) {
	if t.Last == 0 {
		return RunID{}, false
	}
	r := RunID{Job: id, At: t.Last}
	if t.Flags.Is(FlagLastManual) {
		r.Seq = t.Manual
	}
	return r, true
}

// Profile is the part of a definition that decisions need and that many jobs share: schedule and policies. It is
// comparable, and interned by the engine. For one-shots without exclusions Spec is empty, because the cursor holds
// the tick. Jobs mostly come in families with the same schedule and policies; a number of four bytes in place of the
// values keeps the hot rows small.
type Profile struct {
	Spec           schedule.Spec
	Overlap        Overlap
	Missed         Missed
	CatchupWindow  instant.Millis // a duration
	MaxCatchupRuns uint32
	MaxRuns        uint32
	Retry          Retry

	Jitter         instant.Millis // a duration
	MaxConcurrent  uint32
	PauseOnFailure uint32
	ReportWithin   instant.Millis // a duration, for the worker's report; 0: runs end when they are delivered
}

// ProfileOf returns the profile of a definition; s is its compiled schedule. Durations are cut down to the
// millisecond, the unit of all decisions. Without the empty Spec, each one-shot would intern a profile of its own.
func ProfileOf(d *Definition, s *schedule.Schedule) Profile {
	p := Profile{
		Overlap:        d.Overlap,
		Missed:         d.Missed,
		CatchupWindow:  instant.Millis(d.CatchupWindow.Milliseconds()),
		MaxCatchupRuns: d.MaxCatchupRuns,
		MaxRuns:        d.MaxRuns,
		Retry:          d.Retry,
		Jitter:         instant.Millis(d.Jitter.Milliseconds()),
		MaxConcurrent:  d.MaxConcurrent,
		PauseOnFailure: d.PauseOnFailure,
	}
	if d.Completion == CompletionReported {
		p.ReportWithin = instant.Millis(d.AttemptTimeout.Milliseconds())
	}
	if s.Kind() != schedule.At || s.Excludes() {
		p.Spec = s.Spec()
	}
	return p
}

// Note is the text that says why a job is paused or failed, since when, and by whom.
type Note struct {
	At     instant.Millis
	Reason string
	By     string // "" if the caller gave no name
}
