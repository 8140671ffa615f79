package client

import "encoding/json"

// PutRequest asks to register or update a job.
type PutRequest struct {
	Job
	IfVersion *uint32 `json:"if_version,omitzero"` // required version of the job; nil: any; 0: no such job may exist
}

// PutReply answers a [PutRequest].
type PutReply struct {
	Job     JobInfo `json:"job"`
	Created bool    `json:"created"`
}

// PutManyRequest asks to register many jobs, each independently.
type PutManyRequest struct {
	Jobs []Job `json:"jobs"`
}

// PutManyReply answers a [PutManyRequest]; the results are in the order of the jobs.
type PutManyReply struct {
	Results  []PutResult `json:"results"`
	Accepted int         `json:"accepted"`
	Rejected int         `json:"rejected"`
}

// PutResult is the result for one job of a bulk registration. If Error is nil, the job is durable. ID, Version and
// NextRunAt are zero for a refused job.
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
	WithCredentials bool   `json:"with_credentials,omitzero"` // return credentials in clear text instead of masks
}

// NameRequest names a calendar to get or delete.
type NameRequest struct {
	Name string `json:"name"`
}

// JobReply answers a request for a job.
type JobReply struct {
	Job JobInfo `json:"job"`
}

// DeleteRequest asks to delete a job.
type DeleteRequest struct {
	Name      string  `json:"name"`
	IfVersion *uint32 `json:"if_version,omitzero"` // required version of the job; nil: any; 0 is refused
}

// DeleteReply answers a [DeleteRequest].
type DeleteReply struct {
	Deleted bool        `json:"deleted"`
	Runs    DeletedRuns `json:"runs"`
}

// DeletedRuns counts the runs of a job that was deleted.
type DeletedRuns struct {
	Cancelled int `json:"cancelled"` // runs that waited for their time, their turn or another attempt, and are never launched
	Running   int `json:"running"`   // runs in progress at their targets, which may finish them
}

// PauseRequest asks to pause or resume a job.
type PauseRequest struct {
	Name      string  `json:"name"`
	Reason    string  `json:"reason,omitempty"`    // shown as the job's status_reason
	IfVersion *uint32 `json:"if_version,omitzero"` // required version of the job; nil: any; 0 is refused
}

// ListRequest selects jobs, in the order of their names.
type ListRequest struct {
	Prefix string            `json:"prefix,omitempty"` // only jobs whose names begin with it
	Labels map[string]string `json:"labels,omitempty"` // only jobs that have all of these
	Status string            `json:"status,omitempty"` // active, paused, completed, failed
	Limit  int               `json:"limit,omitzero"`   // 1 to 1000; default 100
	Cursor string            `json:"cursor,omitempty"` // NextCursor of the previous page

	// Contains selects jobs whose names contain a text of at most 128 bytes, in upper or lower case; "": any. Target
	// selects those whose subject, or scheme and host of their URL, contains a text of at most 255 bytes. LastRun
	// "failed" selects those whose run that ended last is dead; skipped and cancelled runs are passed over. Servers before these members refuse them.
	Contains string `json:"contains,omitempty"`
	Target   string `json:"target,omitempty"`
	LastRun  string `json:"last_run,omitempty"` // failed

	WithCredentials bool `json:"with_credentials,omitzero"` // return credentials in clear text; a server of the first release refuses it
	// Partial asks a cluster of several shards for what it has if shards are away, instead of an error.
	Partial bool `json:"partial,omitzero"`
}

// JobPage is one page of jobs. A page may be shorter than the limit, even empty, and still have a next
// one: only an empty NextCursor marks the end.
type JobPage struct {
	Jobs       []JobInfo `json:"jobs"`
	NextCursor string    `json:"next_cursor,omitempty"` // "" at the end
	// MissingShards are those whose jobs are not on the page, because they are away; only with Partial.
	MissingShards []uint32 `json:"missing_shards,omitempty"`
}

// TriggerRequest asks to fire a run of a job now.
type TriggerRequest struct {
	Name           string          `json:"name"`
	Payload        json.RawMessage `json:"payload,omitzero"`          // replaces the job's payload for this run
	PayloadBase64  []byte          `json:"payload_base64,omitzero"`   // bytes, instead of a JSON value
	IdempotencyKey string          `json:"idempotency_key,omitempty"` // a repeated key within a day returns the first run and fires no other
	IfVersion      *uint32         `json:"if_version,omitzero"`       // required version of the job; nil: any; 0 is refused; ignored if the key has its run already
}

// RunReply answers a request for a run. The run has its attempts only in the reply to runs.get.
type RunReply struct {
	Run Run `json:"run"`
}

// BackfillRequest asks to fire a run for each tick of a job's schedule in [From, To) for which no run
// was fired. Skipped ticks count as not fired.
type BackfillRequest struct {
	Name   string `json:"name"`
	From   Time   `json:"from"`
	To     Time   `json:"to"`
	Limit  int    `json:"limit,omitzero"`   // only the oldest ticks, up to this number; 0: all, and more than 1,000 are refused
	Repeat bool   `json:"repeat,omitzero"`  // include ticks that were fired; their new runs have other run ids
	DryRun bool   `json:"dry_run,omitzero"` // fire nothing and list the ticks
}

// BackfillReply has the number of runs that a backfill fired, or with DryRun would fire.
type BackfillReply struct {
	Runs    int    `json:"runs"`
	LeftOut int    `json:"left_out"`        // ticks left out because a run was fired for them, or is about to be
	Times   []Time `json:"times,omitempty"` // scheduled times of the runs; with DryRun only
}

// RunListRequest selects runs, newest scheduled time first.
type RunListRequest struct {
	Job      string `json:"job,omitempty"`     // "" only with Status "dead": the dead runs of all jobs
	From     Time   `json:"from,omitzero"`     // only runs scheduled at or after
	To       Time   `json:"to,omitzero"`       // only runs scheduled before
	Status   string `json:"status,omitempty"`  // as in [Run]
	Attempts bool   `json:"attempts,omitzero"` // include the attempts of each run
	Limit    int    `json:"limit,omitzero"`    // 1 to 1000; default 100
	Cursor   string `json:"cursor,omitempty"`  // NextCursor of the previous page
	Partial  bool   `json:"partial,omitzero"`  // as in [ListRequest]
}

// RunPage is one page of runs. As with [JobPage], a page may be short or empty before the end.
type RunPage struct {
	Runs          []Run    `json:"runs"`
	NextCursor    string   `json:"next_cursor,omitempty"`
	MissingShards []uint32 `json:"missing_shards,omitempty"` // as in [JobPage]
}

// RunRequest names a run to get, cancel or retry.
type RunRequest struct {
	RunID string `json:"run_id"`
}

// NextRequest asks for the next ticks of a schedule. No job with this schedule needs to exist.
type NextRequest struct {
	Schedule  string   `json:"schedule,omitempty"`
	Schedules []string `json:"schedules,omitempty"` // instead of Schedule
	Exclude   []string `json:"exclude,omitempty"`
	Timezone  string   `json:"timezone,omitempty"`
	Count     int      `json:"count,omitzero"` // 1 to 1000; default 10
	After     Time     `json:"after,omitzero"` // list ticks after this instant, from which an @every counts too; default now
	StartsAt  Time     `json:"starts_at,omitzero"`
	EndsAt    Time     `json:"ends_at,omitzero"`
}

// NextReply lists ticks, and has a note for each clock change that moves, drops or repeats one of them.
type NextReply struct {
	Times []Time   `json:"times"`
	Notes []string `json:"notes"`
}

// StatusRequest asks for [Status]. It has no members; an empty message is also valid.
type StatusRequest struct{}
