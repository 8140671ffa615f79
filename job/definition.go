package job

import "time"

// Definition is a job as its owner wrote it, with the defaults filled in. It is a value: nothing in
// it is shared with the engine, and nobody changes one that was handed on.
type Definition struct {
	Tenant string
	Name   string

	Schedule string // as written: cron, @every, @at, with or without CRON_TZ=
	Timezone string // IANA name; "" is UTC
	StartsAt Millis // no tick before it; 0 is none
	EndsAt   Millis // no tick at or after it; 0 is none
	MaxRuns  uint32 // scheduled runs until the job completes; 0 is no limit
	Jitter   time.Duration

	Target      Target
	Payload     []byte
	PayloadJSON bool // the payload is JSON text, and is shown as JSON
	Headers     []Pair
	Completion  Completion

	AttemptTimeout time.Duration
	Retry          Retry
	Overlap        Overlap
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
		},
		Overlap:        OverlapSkip,
		Missed:         MissedFireOnce,
		CatchupWindow:  time.Hour,
		MaxCatchupRuns: 10,
	}
}

// Spec returns the schedule of the definition as text.
func (d *Definition) Spec() Spec {
	return Spec{Expr: d.Schedule, Zone: d.Timezone, StartsAt: d.StartsAt, EndsAt: d.EndsAt}
}

// Backoff returns how long to wait after attempt number n (from 1) has failed.
func (r Retry) Backoff(n uint32) time.Duration {
	wait := float64(r.InitialInterval)
	for i := uint32(1); i < n && wait < float64(r.MaxInterval); i++ {
		wait *= r.Multiplier
	}
	return min(time.Duration(wait), r.MaxInterval)
}
