package history

// The messages of the API, written from its documentation and not from its code.

// Members that the load does not set are left out.
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

type targetWire struct {
	Kind    string `json:"kind"`
	Subject string `json:"subject,omitempty"`
	URL     string `json:"url,omitempty"`
}

type retryWire struct {
	MaxAttempts     int     `json:"max_attempts"`
	InitialInterval string  `json:"initial_interval"`
	Multiplier      float64 `json:"multiplier"`
	MaxInterval     string  `json:"max_interval"`
}

type payloadWire struct {
	Mark int `json:"mark"`
}

type putRequest struct {
	jobWire
	IfVersion *int `json:"if_version,omitempty"`
}

type putManyRequest struct {
	Jobs []jobWire `json:"jobs"`
}

type nameRequest struct {
	Name string `json:"name"`
}

type triggerRequest struct {
	Name    string       `json:"name"`
	Payload *payloadWire `json:"payload,omitempty"`
	Key     string       `json:"idempotency_key,omitempty"`
}

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

func (j jobReply) state() *JobState {
	return &JobState{Mark: j.Payload.Mark, Paused: j.Paused, Status: j.Status, Version: j.Version}
}

type oneJobReply struct {
	Job jobReply `json:"job"`
}

type putManyReply struct {
	Results []struct {
		Name    string     `json:"name"`
		Version int        `json:"version"`
		Error   *errorBody `json:"error"`
	} `json:"results"`
}

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

type oneRunReply struct {
	Run runReply `json:"run"`
}

type jobsPage struct {
	Jobs   []jobReply `json:"jobs"`
	Cursor string     `json:"next_cursor"`
}

type runsPage struct {
	Runs   []runReply `json:"runs"`
	Cursor string     `json:"next_cursor"`
}

type errorBody struct {
	Code    string `json:"code"`
	Message string `json:"message"`
}

type errorReply struct {
	Error errorBody `json:"error"`
}
