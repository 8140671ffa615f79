package job

// Record is the cold row of a job: what only readers and deliveries need.
type Record struct {
	Stamp
	Def Definition
}

// Stamp is what the engine keeps beside the definition of a job.
type Stamp struct {
	ID        ID
	Version   uint32 // counts the puts, pauses and resumes of the job, from 1
	CreatedAt Millis
	UpdatedAt Millis
	Anchor    Millis // a point on the grid of an @every schedule

	// Origin is the span of the request that registered the job as it is now, if that was traced and sampled.
	// It is no part of the definition: nobody compares it, and no reply shows it.
	Origin TraceContext
}

// Timer is the hot row of a job: what its decisions need. Profile refers to an interned Profile.
type Timer struct {
	Profile uint32
	Cursor  Millis // every tick before it is decided; the armed tick, if there is one
	Last    Millis // no tick after it was ever decided, be it by an earlier schedule, and no run is scheduled for later; 0: there was none
	Version uint32
	Runs    uint32 // fired runs of the schedule, for MaxRuns
	Manual  uint32 // manual runs so far: the Seq of the newest
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
	FlagLastManual            // what Last is the time of is a manual run, mostly the one numbered Manual
	FlagDead                  // the run that ended last is dead: a completed job is kept as long as its history
)

// Is tells whether any of the given bits is set.
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

// LastRun returns the identity that the job's newest run has, unless that is a skipped range or was followed
// by manual runs for earlier times, and whether there is one.
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

// Profile is what the decisions of many jobs share: schedule and policies. It is comparable, and
// interned by the engine. For one-shots without exclusions Spec is empty: the cursor says it all.
type Profile struct {
	Spec           Spec
	Overlap        Overlap
	Missed         Missed
	CatchupWindow  Millis // a length
	MaxCatchupRuns uint32
	MaxRuns        uint32
	Retry          Retry

	Jitter         Millis // a length
	MaxConcurrent  uint32
	PauseOnFailure uint32
	ReportWithin   Millis // a length: for a worker to report; 0: runs are over when they are delivered
}

// ProfileOf returns the profile of a definition whose schedule compiled to s.
func ProfileOf(d *Definition, s *Schedule) Profile {
	p := Profile{
		Overlap:        d.Overlap,
		Missed:         d.Missed,
		CatchupWindow:  Millis(d.CatchupWindow.Milliseconds()),
		MaxCatchupRuns: d.MaxCatchupRuns,
		MaxRuns:        d.MaxRuns,
		Retry:          d.Retry,
		Jitter:         Millis(d.Jitter.Milliseconds()),
		MaxConcurrent:  d.MaxConcurrent,
		PauseOnFailure: d.PauseOnFailure,
	}
	if d.Completion == CompletionReported {
		p.ReportWithin = Millis(d.AttemptTimeout.Milliseconds())
	}
	if s.Kind() != ScheduleAt || s.filter != nil {
		p.Spec = s.Spec()
	}
	return p
}

// Note is the small text beside a job: why it is paused or failed, since when, and by whom.
type Note struct {
	At     Millis
	Reason string
	By     string // "" is nobody who gave a name
}
