package client

import "encoding/json"

// Job is a job as its owner writes it. A zero field is left to the server's default; where zero means
// something else than the default, the field is a pointer.
type Job struct {
	Name string `json:"name"` // 1 to 128 of A-Z a-z 0-9 . _ - /

	Schedule  string   `json:"schedule,omitempty"`  // cron of 5 to 7 fields, @daily and its kin, @every 10s, @at 2026-12-01T08:00:00Z
	Schedules []string `json:"schedules,omitempty"` // instead of Schedule: a tick of any of them is a tick
	Exclude   []string `json:"exclude,omitempty"`   // dates, ranges, cron expressions, @calendar NAME; what matches is no tick
	Timezone  string   `json:"timezone"`            // IANA name that a cron expression is read in; "" is UTC
	StartsAt  Time     `json:"starts_at"`           // no run before it
	EndsAt    Time     `json:"ends_at"`             // no run at or after it
	MaxRuns   uint32   `json:"max_runs"`            // scheduled runs until the job completes; 0 is no limit

	Jitter Duration `json:"jitter"` // runs leave up to so much after their scheduled time, each job at its own share of it
	Target Target   `json:"target"`

	Payload       json.RawMessage   `json:"payload,omitzero"`        // any JSON value; targets get its text, without the spaces between tokens
	PayloadBase64 []byte            `json:"payload_base64,omitzero"` // bytes instead of a JSON value
	Headers       map[string]string `json:"headers"`

	Completion      string    `json:"completion"`      // delivered, reported; default delivered
	AttemptTimeout  Duration  `json:"attempt_timeout"` // for a target to answer, or for a worker to report; default 30s
	Retry           Retry     `json:"retry"`
	PauseOnFailure  uint32    `json:"pause_on_failure"`  // runs in a row that end dead until the job is paused; 0 never pauses it
	OverlapPolicy   string    `json:"overlap_policy"`    // allow, skip, buffer_one, buffer_all, cancel_other; default skip
	MaxConcurrent   uint32    `json:"max_concurrent"`    // with allow: runs that may go on at a time; 0 is no limit
	MissedRunPolicy string    `json:"missed_run_policy"` // skip, fire_once, backfill; default fire_once
	CatchupWindow   *Duration `json:"catchup_window"`    // default 1h; 0 catches up nothing
	MaxCatchupRuns  *uint32   `json:"max_catchup_runs"`  // default 10

	Paused      bool              `json:"paused"`
	Labels      map[string]string `json:"labels"`
	Description string            `json:"description"`
}

// Target is where the runs of a job go.
type Target struct {
	Kind    string `json:"kind"`              // nats, request, jetstream, http, handler
	Subject string `json:"subject,omitempty"` // of nats, request and jetstream
	URL     string `json:"url,omitempty"`     // of http
	Method  string `json:"method,omitempty"`  // of http; default POST
	Name    string `json:"name,omitempty"`    // of handler

	// MaxInFlight is how many attempts the target has at a time, up to 10,000; 0 is what the server has for
	// a target. Runs beyond it wait, and a wait is no attempt. Not for nats.
	MaxInFlight uint32 `json:"max_in_flight,omitempty"`
}

// Retry says whether and when a failed attempt is followed by another.
type Retry struct {
	MaxAttempts     uint32   `json:"max_attempts"`     // including the first; default 3
	InitialInterval Duration `json:"initial_interval"` // default 1s
	Multiplier      float64  `json:"multiplier"`       // default 2
	MaxInterval     Duration `json:"max_interval"`     // default 5m
	MaxAge          Duration `json:"max_age"`          // no attempt later than this after the scheduled time; 0 is no limit
	Jitter          *float64 `json:"jitter,omitempty"` // share of an interval that it is longer by at most, 0 to 1; default 0.1
	ClientErrors    bool     `json:"client_errors"`    // retry an answer that blames the request (4xx) too
}

// JobInfo is a job as the server tells of it: the definition with its defaults filled in, and what
// the server keeps beside it. The latter is ignored when a JobInfo is put again.
type JobInfo struct {
	Job

	ID           string   `json:"id"`
	Tenant       string   `json:"tenant"`
	Version      uint32   `json:"version"` // grows with each change; see [Client.PutIfVersion]
	Status       string   `json:"status"`  // active, paused, completed, failed
	StatusReason string   `json:"status_reason"`
	StatusBy     string   `json:"status_by"`               // who paused it; "" if nobody gave a name
	NextRunAt    Time     `json:"next_run_at"`             // none if no run will come by itself
	NextLaunchAt Time     `json:"next_launch_at,omitzero"` // when that run leaves, if its jitter puts that off
	LastRun      *LastRun `json:"last_run"`                // nil if there was none
	CreatedAt    Time     `json:"created_at"`
	UpdatedAt    Time     `json:"updated_at"`

	// PayloadOmitted says that the job did not fit into one NATS message with its payload. A put
	// with this member set is refused, so that nobody loses a payload by putting such a job again.
	PayloadOmitted bool `json:"payload_omitted,omitzero"`

	// CredentialsMasked says that the values of headers, or parts of the URL, are [Mask] in the place of
	// credentials. Put again, a mask keeps the credential that the server has; see [Client.Put].
	CredentialsMasked bool `json:"credentials_masked,omitzero"`
}

// Mask is what a server shows in the place of a credential: the value of a header such as Authorization, Cookie or
// X-Api-Key, a password in a URL, or a parameter of its query such as token.
const Mask = "********"

// LastRun is the newest run of a job, in short.
type LastRun struct {
	ID          string  `json:"id"`
	Status      string  `json:"status"`
	ScheduledAt Time    `json:"scheduled_at"`
	LatenessMS  float64 `json:"lateness_ms"`
}
