package job

import (
	"slices"
	"strings"
	"time"
)

// Definition is a job as its owner wrote it, with the defaults filled in. It is a value: nothing in
// it is shared with the engine, and nobody changes one that was handed on.
type Definition struct {
	Tenant string
	Name   string

	Schedule  string        // as written: cron, @every, @at, with or without CRON_TZ=; "" if there are several
	Schedules []string      // as written, instead of Schedule: a tick of any of them is a tick
	Exclude   []string      // as written: dates, ranges, cron expressions, @calendar NAME; what matches is no tick
	Timezone  string        // IANA name; "" is UTC
	StartsAt  Millis        // no tick before it; 0 is none
	EndsAt    Millis        // no tick at or after it; 0 is none
	MaxRuns   uint32        // scheduled runs until the job completes; 0 is no limit
	Jitter    time.Duration // runs are launched up to so much after their scheduled time; see JitterOf

	Target      Target
	Payload     []byte
	PayloadJSON bool // the payload is JSON text, and is shown as JSON
	Headers     []Pair
	Completion  Completion

	AttemptTimeout time.Duration // for a target to answer, or for a worker to report
	Retry          Retry
	PauseOnFailure uint32 // runs in a row that end dead until the job is paused; 0 never pauses it
	Overlap        Overlap
	MaxConcurrent  uint32 // with OverlapAllow: runs that may go on at a time; 0 is no limit
	Missed         Missed
	CatchupWindow  time.Duration
	MaxCatchupRuns uint32

	Paused      bool
	Labels      []Pair
	Description string
}

// Pair is a key and its value. Lists of pairs are sorted by key and have no key twice, so that equal
// definitions have equal bytes.
type Pair struct{ Key, Value string }

// Target is where the runs of a job go. Which of the fields is used depends on Kind.
type Target struct {
	Kind    TargetKind
	Subject string // nats, request, jetstream
	URL     string // http
	Method  string // http
	Handler string // handler

	// MaxInFlight is how many attempts the target has at a time, up to MaxInFlightMax; 0 is what the
	// server has for targets. Of kind nats no target has a number: a publish is over when the server has it.
	MaxInFlight uint32
}

// Address returns what a human would call the target: its subject, URL or handler.
func (t Target) Address() string {
	switch t.Kind {
	case TargetHTTP:
		return t.URL
	case TargetHandler:
		return t.Handler
	default:
		return t.Subject
	}
}

// Retry says whether and when a failed attempt is followed by another.
type Retry struct {
	MaxAttempts     uint32        // including the first; at least 1
	InitialInterval time.Duration // between the first attempt's failure and the second attempt
	Multiplier      float64       // each further interval is this much longer; at least 1
	MaxInterval     time.Duration // no interval is longer
	MaxAge          time.Duration // no attempt begins later than this after the scheduled time; 0 is no limit
	Jitter          float64       // each interval is longer by up to this share of it, which spreads herds; 0 to 1
	ClientErrors    bool          // an answer that blames the request (4xx but 408, 425, 429) is followed by another attempt too
}

// Defaults returns a definition with the default of every field that has one.
func Defaults() Definition {
	return Definition{
		Completion:     CompletionDelivered,
		AttemptTimeout: 30 * time.Second,
		Retry: Retry{
			MaxAttempts:     3,
			InitialInterval: time.Second,
			Multiplier:      2,
			MaxInterval:     5 * time.Minute,
			Jitter:          RetryJitterDefault,
		},
		Overlap:        OverlapSkip,
		Missed:         MissedFireOnce,
		CatchupWindow:  time.Hour,
		MaxCatchupRuns: 10,
	}
}

// Spec returns the schedule of the definition as text, with the calendars that it refers to by tenant
// and name. A definition that is not valid may give a spec that is.
func (d *Definition) Spec() Spec {
	s := Spec{Expr: d.Schedule, Zone: d.Timezone, StartsAt: d.StartsAt, EndsAt: d.EndsAt}
	if s.Expr == "" {
		s.Expr = strings.Join(d.Schedules, "\n")
	}
	s.Exclude = strings.Join(d.Exclude, "\n")
	if !strings.Contains(s.Exclude, calendarPrefix) {
		return s
	}
	lines := slices.Clone(d.Exclude)
	for i, line := range lines {
		if name, ok := cutCalendar(line); ok {
			lines[i] = calendarPrefix + " " + d.Tenant + "/" + name
		}
	}
	s.Exclude = strings.Join(lines, "\n")
	return s
}

// Backoff returns how long to wait after attempt number n (from 1) of a run has failed: intervals that
// grow exponentially up to a cap, and the jitter on top. The jitter follows from the run and the number,
// so that it is the same wherever it is computed.
func (r Retry) Backoff(n uint32, run RunID) time.Duration {
	wait := float64(r.InitialInterval)
	for i := uint32(1); i < n && wait < float64(r.MaxInterval); i++ {
		wait *= r.Multiplier
	}
	wait = min(wait, float64(r.MaxInterval))
	return time.Duration(wait + wait*r.Jitter*share(uint64(run.Job), uint64(run.At), uint64(run.Seq)<<32|uint64(n)))
}
