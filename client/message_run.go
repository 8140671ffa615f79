package client

// Outcome is what a worker says became of a run.
type Outcome string

// The outcomes.
const (
	OutcomeSucceeded Outcome = "succeeded"
	OutcomeFailed    Outcome = "failed"
)

// ReportRequest tells what became of a run of a job whose completion is "reported".
type ReportRequest struct {
	RunID  string  `json:"run_id"`
	Fence  uint64  `json:"fence"` // of the attempt, as the header Carillon-Fence has it
	Status Outcome `json:"status"`
	Result string  `json:"result,omitempty"` // of one that succeeded; at most 512 bytes
	Error  string  `json:"error,omitempty"`  // why it failed; at most 512 bytes
}

// ExtendRequest asks for more time to report a run.
type ExtendRequest struct {
	RunID string   `json:"run_id"`
	Fence uint64   `json:"fence"` // as in [ReportRequest]
	By    Duration `json:"by"`    // from now; at most 24h
}

// ExtendReply tells when the report must have come now.
type ExtendReply struct {
	Deadline Time `json:"deadline"`
}

// RetryManyRequest selects dead runs that are to begin another attempt, newest scheduled time first.
type RetryManyRequest struct {
	Job   string `json:"job,omitempty"`  // "" is every job
	From  Time   `json:"from,omitzero"`  // scheduled at or after
	To    Time   `json:"to,omitzero"`    // scheduled before
	Limit int    `json:"limit,omitzero"` // 1 to 1000; default 100
}

// RetryManyReply tells how many runs begin another attempt, and whether dead ones are left.
type RetryManyReply struct {
	Retried int  `json:"retried"`
	More    bool `json:"more"`
}
