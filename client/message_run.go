package client

// Outcome is the outcome of a run that its worker reports.
type Outcome string

// The outcomes that a worker can report.
const (
	OutcomeSucceeded Outcome = "succeeded"
	OutcomeFailed    Outcome = "failed"
)

// ReportRequest reports the outcome of a run of a job whose completion is "reported".
type ReportRequest struct {
	RunID  string  `json:"run_id"`
	Fence  uint64  `json:"fence"` // fence of the attempt, from the header Carillon-Fence of its delivery
	Status Outcome `json:"status"`
	Result string  `json:"result,omitempty"` // for OutcomeSucceeded; at most 512 bytes
	Error  string  `json:"error,omitempty"`  // for OutcomeFailed: the cause; at most 512 bytes
}

// ExtendRequest asks for more time to report a run.
type ExtendRequest struct {
	RunID string   `json:"run_id"`
	Fence uint64   `json:"fence"` // as in [ReportRequest]
	By    Duration `json:"by"`    // new time for the report, counted from now; at most 24h
}

// ExtendReply has the new deadline of the report.
type ExtendReply struct {
	// Deadline is that in force, which may be later than asked for.
	Deadline Time `json:"deadline"`
}

// RetryManyRequest asks to retry dead runs: the newest ones that match, by scheduled time.
type RetryManyRequest struct {
	Job   string `json:"job,omitempty"`  // "" selects all jobs
	From  Time   `json:"from,omitzero"`  // only runs scheduled at or after
	To    Time   `json:"to,omitzero"`    // only runs scheduled before
	Limit int    `json:"limit,omitzero"` // 1 to 1000; default 100
}

// DismissRequest asks to mark a dead run as dealt with.
type DismissRequest struct {
	RunID  string `json:"run_id"`
	Reason string `json:"reason,omitempty"` // shown with the run; at most 512 bytes
}

// DismissManyRequest asks to dismiss dead runs: the newest ones that match, by scheduled time.
type DismissManyRequest struct {
	Job    string `json:"job,omitempty"`    // "" selects all jobs
	From   Time   `json:"from,omitzero"`    // only runs scheduled at or after
	To     Time   `json:"to,omitzero"`      // only runs scheduled before
	Limit  int    `json:"limit,omitzero"`   // 1 to 1000; default 100
	Reason string `json:"reason,omitempty"` // shown with each run; at most 512 bytes
}

// DismissManyReply has the number of runs that were dismissed. More says that further dead runs match.
type DismissManyReply struct {
	Dismissed int  `json:"dismissed"`
	More      bool `json:"more"`
}

// RetryManyReply has the number of runs that begin another attempt. More says that further dead runs
// match.
type RetryManyReply struct {
	Retried int  `json:"retried"`
	More    bool `json:"more"`
}
