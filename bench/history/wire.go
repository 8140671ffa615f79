package history

// The messages of the API, written from its documentation and not from its code.

// Members that the load does not set are left out. jobWire is a job in a request.
type jobWire struct {
	Name            string       `json:"name"`
	Schedule        string       `json:"schedule"`
	Target          targetWire   `json:"target"`
	Payload         *payloadWire `json:"payload,omitempty"`
	AttemptTimeout  string       `json:"attempt_timeout,omitempty"`
	Retry           *retryWire   `json:"retry,omitempty"`
	OverlapPolicy   string       `json:"overlap_policy,omitempty"`
	MissedRunPolicy string       `json:"missed_run_policy,omitempty"`
	CatchupWindow   string       `json:"catchup_window,omitempty"`
	MaxCatchupRuns  int          `json:"max_catchup_runs,omitempty"`
	Paused          bool         `json:"paused"`
}

// targetWire is the destination of a job: a subject or a URL, by its kind.
type targetWire struct {
	Kind    string `json:"kind"`
	Subject string `json:"subject,omitempty"`
	URL     string `json:"url,omitempty"`
}

// retryWire is a retry policy. Durations are texts, as everywhere in the API.
type retryWire struct {
	MaxAttempts     int     `json:"max_attempts"`
	InitialInterval string  `json:"initial_interval"`
	Multiplier      float64 `json:"multiplier"`
	MaxInterval     string  `json:"max_interval"`
}

// payloadWire is the payload of every job: the number of the request that put it.
type payloadWire struct {
	Mark int `json:"mark"`
}

// putRequest is a jobs.put. IfVersion is nil for an unconditional one; 0 demands that there is no such job.
type putRequest struct {
	jobWire
	IfVersion *int `json:"if_version,omitempty"`
}

// putManyRequest is a jobs.put_many, which has no conditions.
type putManyRequest struct {
	Jobs []jobWire `json:"jobs"`
}

// nameRequest is a request that names a job and nothing else: jobs.get, jobs.delete, jobs.pause, jobs.resume.
type nameRequest struct {
	Name string `json:"name"`
}

// triggerRequest is a jobs.trigger. Its payload replaces that of the job, so that a delivery shows the trigger.
type triggerRequest struct {
	Name    string       `json:"name"`
	Payload *payloadWire `json:"payload,omitempty"`
	Key     string       `json:"idempotency_key,omitempty"`
}

// pageRequest asks for a page of jobs or runs. An empty cursor is the first one.
type pageRequest struct {
	Job    string `json:"job,omitempty"` // of runs.list
	Limit  int    `json:"limit"`
	Cursor string `json:"cursor,omitempty"`
}

// jobReply is a job in a reply, without the members that the checks do not use.
type jobReply struct {
	Name    string      `json:"name"`
	Payload payloadWire `json:"payload"`
	Version int         `json:"version"`
	Status  string      `json:"status"`
	Paused  bool        `json:"paused"`
}

// state returns what the checks compare.
func (j jobReply) state() *JobState {
	return &JobState{Mark: j.Payload.Mark, Paused: j.Paused, Status: j.Status, Version: j.Version}
}

// oneJobReply is the reply to a put, a get, a pause and a resume. A delete has no job in it, which leaves zeros.
type oneJobReply struct {
	Job jobReply `json:"job"`
}

// putManyReply has a result for each job, in the order of the request.
type putManyReply struct {
	Results []struct {
		Name    string     `json:"name"`
		Version int        `json:"version"`
		Error   *errorBody `json:"error"`
	} `json:"results"`
}

// runReply is a run in a reply. Times are texts here, and checked when they are converted.
type runReply struct {
	RunID       string `json:"run_id"`
	ScheduledAt string `json:"scheduled_at"`
	Until       string `json:"until"`
	Status      string `json:"status"`
	Reason      string `json:"reason"`
	Attempt     int    `json:"attempt"`
	Manual      bool   `json:"manual"`
	Error       string `json:"error"`
}

// oneRunReply is the reply to a trigger.
type oneRunReply struct {
	Run runReply `json:"run"`
}

// jobsPage is a page of jobs.list. The cursor is "" on the last one.
type jobsPage struct {
	Jobs   []jobReply `json:"jobs"`
	Cursor string     `json:"next_cursor"`
}

// runsPage is a page of runs.list.
type runsPage struct {
	Runs   []runReply `json:"runs"`
	Cursor string     `json:"next_cursor"`
}

// errorBody is what is wrong. Message is for people, and no check reads it.
type errorBody struct {
	Code    string `json:"code"`
	Message string `json:"message"`
}

// errorReply is the body of every refusal.
type errorReply struct {
	Error errorBody `json:"error"`
}
