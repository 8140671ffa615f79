package client

import "encoding/json"

// Job is the definition of a job as its owner writes it. For a zero field the server uses its default. A
// field is a pointer if its zero value and its default mean different things.
type Job struct {
	Name string `json:"name"` // 1 to 128 of A-Z a-z 0-9 . _ - /

	Schedule  string   `json:"schedule,omitempty"`  // cron of 5 to 7 fields, @daily and similar, @every 10s, @at 2026-12-01T08:00:00Z
	Schedules []string `json:"schedules,omitempty"` // instead of Schedule: the job ticks when any of them does
	Exclude   []string `json:"exclude,omitempty"`   // dates, ranges, cron expressions, @calendar NAME; an instant that matches one is not a tick
	Timezone  string   `json:"timezone"`            // IANA name of the zone in which cron expressions are evaluated; "" means UTC
	StartsAt  Time     `json:"starts_at"`           // no scheduled run before this instant; zero: no limit
	EndsAt    Time     `json:"ends_at"`             // no scheduled run at or after this instant; zero: no limit
	MaxRuns   uint32   `json:"max_runs"`            // number of scheduled runs, with those skipped as overlap, after which the job completes; 0 means no limit

	Jitter Duration `json:"jitter"` // runs are launched up to this long after their scheduled time; each job has a fixed share of it
	Target Target   `json:"target"`

	Payload       json.RawMessage `json:"payload,omitzero"`        // any JSON value; targets receive its text, without the spaces between tokens
	PayloadBase64 []byte          `json:"payload_base64,omitzero"` // bytes, instead of a JSON value
	Headers       Headers         `json:"headers"`

	Completion      string    `json:"completion"`      // delivered: the run ends when the target accepts it; reported: when a worker reports. Default delivered
	AttemptTimeout  Duration  `json:"attempt_timeout"` // time for a target to answer, or for a worker to report; default 30s
	Retry           Retry     `json:"retry"`
	PauseOnFailure  uint32    `json:"pause_on_failure"`  // number of consecutive dead runs after which the job is paused; 0 never pauses it
	OverlapPolicy   string    `json:"overlap_policy"`    // for a tick while a run is in progress: allow, skip, buffer_one, buffer_all, cancel_other; default skip
	MaxConcurrent   uint32    `json:"max_concurrent"`    // with allow: number of runs that may be in progress at a time; 0 means no limit
	MissedRunPolicy string    `json:"missed_run_policy"` // for ticks that no leader decided in time: skip, fire_once, backfill; default fire_once
	CatchupWindow   *Duration `json:"catchup_window"`    // a missed tick that is older does not fire; default 1h; 0: no missed tick fires
	MaxCatchupRuns  *uint32   `json:"max_catchup_runs"`  // with backfill: missed runs that are fired at most; default 10

	Paused      bool              `json:"paused"`
	Labels      map[string]string `json:"labels"`
	Description string            `json:"description"`
}

// Target is the destination of a job's runs.
type Target struct {
	Kind    string `json:"kind"`              // nats, request, jetstream, http, handler
	Subject string `json:"subject,omitempty"` // of nats, request and jetstream
	URL     string `json:"url,omitempty"`     // of http
	Method  string `json:"method,omitempty"`  // of http; default POST
	Name    string `json:"name,omitempty"`    // of handler

	// MaxInFlight is the number of concurrent attempts at the target, up to 10,000; 0 means the server's
	// default. Further runs wait for a place; waiting does not count as an attempt. Not for kind nats.
	MaxInFlight uint32 `json:"max_in_flight,omitempty"`

	// URLSecret is the secret with the URL, of http, instead of URL. In JSON it is the object in the place of
	// the string: "url": {"secret": "billing/hook"}.
	URLSecret Secret `json:"-"`
	// Sign is the secret with the keys by which requests are signed, of http. Receivers check the signatures
	// with a [WebhookVerifier].
	Sign Secret `json:"sign,omitzero"`
	// ClientCert is the secret with the certificate and its key that the target receives over TLS, of http.
	ClientCert Secret `json:"client_cert,omitzero"`
}

// Retry says whether and when another attempt follows a failed one.
type Retry struct {
	MaxAttempts     uint32   `json:"max_attempts"`     // including the first; default 3
	InitialInterval Duration `json:"initial_interval"` // pause before the second attempt; default 1s
	Multiplier      float64  `json:"multiplier"`       // factor from each pause to the next; default 2
	MaxInterval     Duration `json:"max_interval"`     // longest pause; default 5m
	MaxAge          Duration `json:"max_age"`          // no attempt begins later than this after the scheduled time; 0 means no limit
	Jitter          *float64 `json:"jitter,omitempty"` // a pause is longer by a random share of up to this, 0 to 1; default 0.1
	ClientErrors    bool     `json:"client_errors"`    // also retry after an answer that blames the request (4xx)
}

// JobInfo is a job as the server returns it: the definition with the defaults filled in, and the state
// that the server keeps for the job. A put of a JobInfo uses the definition and ignores the state.
type JobInfo struct {
	Job

	// ID is unique in a shard and never used again; a job that is put after its delete has another one.
	ID      string `json:"id"`
	Tenant  string `json:"tenant"`
	Version uint32 `json:"version"` // grows with each change; see [Client.PutIfVersion]
	Status  string `json:"status"`  // active, paused, completed, failed
	// StatusReason is what the last pause or resume gave as its reason, or why the job failed.
	StatusReason string   `json:"status_reason"`
	StatusBy     string   `json:"status_by"`               // name of the caller that paused it; "" if that gave none
	NextRunAt    Time     `json:"next_run_at"`             // scheduled time of the next run; zero if the schedule has no further tick
	NextLaunchAt Time     `json:"next_launch_at,omitzero"` // when that run is launched, if jitter delays it
	LastRun      *LastRun `json:"last_run"`                // nil if the job has had no run
	CreatedAt    Time     `json:"created_at"`
	// UpdatedAt is the time of the last put, pause or resume.
	UpdatedAt Time `json:"updated_at"`

	// PayloadOmitted says that the payload is missing here, because the job did not fit into one NATS
	// message with it. The server refuses a put with this member set, since that would delete the payload.
	PayloadOmitted bool `json:"payload_omitted,omitzero"`

	// CredentialsMasked says that credentials in headers or in the URL are replaced by [Mask]. In a put, a
	// mask keeps the credential that the server has; see [Client.Put].
	CredentialsMasked bool `json:"credentials_masked,omitzero"`
}

// Mask is the text that a server shows instead of a credential: the value of a header such as
// Authorization, Cookie or X-Api-Key, a password in a URL, or a parameter of its query such as token.
const Mask = "********"

// LastRun is a summary of the newest run of a job.
type LastRun struct {
	ID          string  `json:"id"`
	Status      string  `json:"status"`
	ScheduledAt Time    `json:"scheduled_at"`
	LatenessMS  float64 `json:"lateness_ms"`
}
