package client

import "encoding/json"

// PutRequest asks for a job to be registered, or updated.
type PutRequest struct {
	Job
	IfVersion *uint32 `json:"if_version,omitzero"` // nil: any; 0: there must be no such job
}

// PutReply answers a [PutRequest].
type PutReply struct {
	Job     JobInfo `json:"job"`
	Created bool    `json:"created"`
}

// PutManyRequest asks for many jobs to be registered, each by itself.
type PutManyRequest struct {
	Jobs []Job `json:"jobs"`
}

// PutManyReply answers a [PutManyRequest]; the results are in the order of the jobs.
type PutManyReply struct {
	Results  []PutResult `json:"results"`
	Accepted int         `json:"accepted"`
	Rejected int         `json:"rejected"`
}

// PutResult is what became of one job of a bulk registration. With Error nil the job is durable.
type PutResult struct {
	Name      string `json:"name"`
	ID        string `json:"id,omitempty"`
	Version   uint32 `json:"version,omitzero"`
	NextRunAt Time   `json:"next_run_at,omitzero"`
	Error     *Error `json:"error,omitzero"`
}

// GetRequest names a job to get.
type GetRequest struct {
	Name            string `json:"name"`
	WithCredentials bool   `json:"with_credentials,omitzero"` // in clear, not masked
}

// NameRequest names a calendar to get or delete.
type NameRequest struct {
	Name string `json:"name"`
}

// JobReply answers with a job.
type JobReply struct {
	Job JobInfo `json:"job"`
}

// DeleteRequest asks for a job to be forgotten.
type DeleteRequest struct {
	Name      string  `json:"name"`
	IfVersion *uint32 `json:"if_version,omitzero"` // nil: any; 0 is refused
}

// DeleteReply answers a [DeleteRequest].
type DeleteReply struct {
	Deleted bool        `json:"deleted"`
	Runs    DeletedRuns `json:"runs"`
}

// DeletedRuns counts the runs of a job that was deleted.
type DeletedRuns struct {
	Cancelled int `json:"cancelled"` // waited for their time, their turn or another attempt, and never leave
	Running   int `json:"running"`   // are with their targets, and are not called back
}

// PauseRequest asks for a job to be paused or resumed.
type PauseRequest struct {
	Name      string  `json:"name"`
	Reason    string  `json:"reason,omitempty"`    // shown as the job's status_reason
	IfVersion *uint32 `json:"if_version,omitzero"` // nil: any; 0 is refused
}

// ListRequest selects jobs, in the order of their names.
type ListRequest struct {
	Prefix string            `json:"prefix,omitempty"` // of the names
	Labels map[string]string `json:"labels,omitempty"` // all must match
	Status string            `json:"status,omitempty"` // active, paused, completed, failed
	Limit  int               `json:"limit,omitzero"`   // 1 to 1000; default 100
	Cursor string            `json:"cursor,omitempty"` // of the page before

	WithCredentials bool `json:"with_credentials,omitzero"` // in clear, not masked; a server of the first release refuses it
}

// JobPage is one page of jobs. A page may be short, even empty, and still have a next one.
type JobPage struct {
	Jobs       []JobInfo `json:"jobs"`
	NextCursor string    `json:"next_cursor,omitempty"` // "" at the end
}

// TriggerRequest asks for a run of a job now.
type TriggerRequest struct {
	Name           string          `json:"name"`
	Payload        json.RawMessage `json:"payload,omitzero"`          // in place of the job's own
	PayloadBase64  []byte          `json:"payload_base64,omitzero"`   // bytes instead of a JSON value
	IdempotencyKey string          `json:"idempotency_key,omitempty"` // the same key, within a day, is the same run
	IfVersion      *uint32         `json:"if_version,omitzero"`       // nil: any; 0 is refused; of no account once the key has its run
}

// RunReply answers with a run.
type RunReply struct {
	Run Run `json:"run"`
}

// BackfillRequest asks for a run of a job for each tick of its schedule in [From, To) that no run has fired. A tick
// that was skipped is none that a run has fired.
type BackfillRequest struct {
	Name   string `json:"name"`
	From   Time   `json:"from"`
	To     Time   `json:"to"`
	Limit  int    `json:"limit,omitzero"`   // the oldest so many; without it there must be at most 1,000
	Repeat bool   `json:"repeat,omitzero"`  // also those that runs have fired, under run ids of their own
	DryRun bool   `json:"dry_run,omitzero"` // only list them
}

// BackfillReply has how many runs a backfill started, or would start.
type BackfillReply struct {
	Runs    int    `json:"runs"`
	LeftOut int    `json:"left_out"`        // ticks that runs have fired, or are about to
	Times   []Time `json:"times,omitempty"` // scheduled times of the runs; with DryRun only
}

// RunListRequest selects runs, newest scheduled time first.
type RunListRequest struct {
	Job      string `json:"job,omitempty"`     // may be left out with Status "dead" only: the dead runs of all jobs
	From     Time   `json:"from,omitzero"`     // scheduled at or after
	To       Time   `json:"to,omitzero"`       // scheduled before
	Status   string `json:"status,omitempty"`  // as in [Run]
	Attempts bool   `json:"attempts,omitzero"` // with their attempts
	Limit    int    `json:"limit,omitzero"`    // 1 to 1000; default 100
	Cursor   string `json:"cursor,omitempty"`  // of the page before
}

// RunPage is one page of runs, with the rule of [JobPage].
type RunPage struct {
	Runs       []Run  `json:"runs"`
	NextCursor string `json:"next_cursor,omitempty"`
}

// RunRequest names a run.
type RunRequest struct {
	RunID string `json:"run_id"`
}

// NextRequest asks when a schedule would tick. No job is needed.
type NextRequest struct {
	Schedule  string   `json:"schedule,omitempty"`
	Schedules []string `json:"schedules,omitempty"` // instead of Schedule
	Exclude   []string `json:"exclude,omitempty"`
	Timezone  string   `json:"timezone,omitempty"`
	Count     int      `json:"count,omitzero"` // 1 to 1000; default 10
	After     Time     `json:"after,omitzero"` // default now; an @every counts from it
	StartsAt  Time     `json:"starts_at,omitzero"`
	EndsAt    Time     `json:"ends_at,omitzero"`
}

// NextReply lists ticks, with a note on each change of the clock that moved, dropped or repeated one.
type NextReply struct {
	Times []Time   `json:"times"`
	Notes []string `json:"notes"`
}

// StatusRequest asks for [Status]. It has no members, and an empty message is one too.
type StatusRequest struct{}
