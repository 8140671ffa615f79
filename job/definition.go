package job

import (
	"slices"
	"strings"
	"time"

	"github.com/carillon-io/carillon/instant"
	"github.com/carillon-io/carillon/schedule"
)

// Definition is a job as its owner wrote it, with defaults filled in. It is a value: it shares nothing with the
// engine, and must not be changed after it was passed on. Package api checks it with [Definition.Validate] before the
// engine gets it. A field that is added here also needs a member in the codec of codec_job.go, and a later row
// version if it can be set on a stored job.
type Definition struct {
	Tenant string
	Name   string

	Schedule  string         // as written: cron, @every or @at, with or without CRON_TZ=; "" if Schedules is used
	Schedules []string       // as written, instead of Schedule: a tick of any of them is a tick
	Exclude   []string       // as written: dates, ranges, cron expressions or @calendar NAME; ticks that match are removed
	Timezone  string         // IANA name; "" means UTC
	StartsAt  instant.Millis // no tick before it; 0 means no bound
	EndsAt    instant.Millis // no tick at or after it; 0 means no bound
	MaxRuns   uint32         // scheduled runs until the job completes; 0 means no limit
	Jitter    time.Duration  // runs are launched at most this much after their scheduled time; see JitterOf

	Target      Target
	Payload     []byte
	PayloadJSON bool // the payload is JSON text, and is shown as JSON
	Headers     []Pair
	// SecretHeaders are further headers, whose values are references to secrets ([SecretRef]). Only http targets have
	// any.
	SecretHeaders []Pair
	Completion    Completion

	AttemptTimeout time.Duration // for the target's answer, or for the worker's report
	Retry          Retry
	PauseOnFailure uint32 // runs in a row that end dead until the job is paused; 0 means never
	Overlap        Overlap
	MaxConcurrent  uint32 // with OverlapAllow: runs that may be in progress at a time; 0 means no limit
	Missed         Missed
	CatchupWindow  time.Duration
	MaxCatchupRuns uint32

	Paused      bool
	Labels      []Pair
	Description string
}

// Pair is a key and its value. Lists of pairs are sorted by key and have no duplicate keys, so that equal definitions
// have equal bytes.
type Pair struct{ Key, Value string }

// Target is the destination of a job's runs. Kind decides which of the other fields are used. The other fields are
// stored as they were given.
type Target struct {
	Kind    TargetKind
	Subject string // nats, request, jetstream
	URL     string // http
	Method  string // http
	Handler string // handler

	// MaxInFlight is how many attempts the target accepts at a time, at most MaxInFlightMax; 0 means the server's
	// default. Targets of kind nats have no such number, because a publish is over when the server has it.
	MaxInFlight uint32

	// References to secrets, only of http targets; "" is none.
	URLSecret  SecretRef // the secret is the URL; URL is empty then
	Sign       SecretRef // the secret has one key or two, with which requests are signed
	ClientCert SecretRef // the secret is a certificate with its key, for the TLS of the target
}

// Address returns the subject, the URL or the handler of a target. For a URL this includes path and query, which may
// be secret; [Target.Site] is for texts that are shown. A URL that is a secret is its reference, as JSON.
func (t Target) Address() string {
	switch t.Kind {
	case TargetHTTP:
		if t.URLSecret != "" {
			return t.URLSecret.JSON()
		}
		return t.URL
	case TargetHandler:
		return t.Handler
	default:
		return t.Subject
	}
}

// Retry reports whether and when another attempt follows a failed one. [Retry.Backoff] has the formula.
type Retry struct {
	MaxAttempts     uint32        // including the first; at least 1
	InitialInterval time.Duration // between the first attempt's failure and the second attempt
	Multiplier      float64       // factor from one interval to the next; at least 1
	MaxInterval     time.Duration // bound of an interval
	MaxAge          time.Duration // no attempt begins later than this after the scheduled time; 0 means no limit
	Jitter          float64       // each interval is lengthened by a random share of itself up to this one, which spreads herds; 0 to 1
	ClientErrors    bool          // retry also after an answer that blames the request (4xx except 408, 425, 429)
}

// Defaults returns a definition with the default of every field that has one. Stored definitions have these values
// filled in, so a change of a default here changes no stored job.
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

// Spec returns the schedule of the definition as text, with its calendars as TENANT/NAME. An invalid definition may
// give a valid spec. The tenant in front of a calendar's name lets jobs of all tenants share one cache of compiled
// specs without sharing calendars.
func (d *Definition) Spec() schedule.Spec {
	s := schedule.Spec{Expr: d.Schedule, Zone: d.Timezone, StartsAt: d.StartsAt, EndsAt: d.EndsAt}
	if s.Expr == "" {
		s.Expr = strings.Join(d.Schedules, "\n")
	}
	s.Exclude = strings.Join(d.Exclude, "\n")
	if !strings.Contains(s.Exclude, schedule.CalendarPrefix) {
		return s
	}
	lines := slices.Clone(d.Exclude)
	for i, line := range lines {
		if name, ok := schedule.CutCalendar(line); ok {
			lines[i] = schedule.CalendarPrefix + " " + d.Tenant + "/" + name
		}
	}
	s.Exclude = strings.Join(lines, "\n")
	return s
}

// Backoff returns how long to wait after attempt number n (from 1) of a run has failed: intervals that grow
// exponentially up to MaxInterval, plus the jitter. The jitter is derived from the run and the number, so that it is
// the same wherever it is computed. The jitter is added after the bound, so that the retries of many runs spread even
// once all have reached MaxInterval; an interval is therefore at most twice MaxInterval. So the core, which has no
// random source, can compute it.
func (r Retry) Backoff(n uint32, run RunID) time.Duration {
	wait := float64(r.InitialInterval)
	for i := uint32(1); i < n && wait < float64(r.MaxInterval); i++ {
		wait *= r.Multiplier
	}
	wait = min(wait, float64(r.MaxInterval))
	return time.Duration(wait + wait*r.Jitter*share(uint64(run.Job), uint64(run.At), uint64(run.Seq)<<32|uint64(n)))
}
