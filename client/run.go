package client

// Run is one firing of a job for one scheduled time.
type Run struct {
	RunID        string  `json:"run_id"` // the same for every attempt
	Job          string  `json:"job"`
	Tenant       string  `json:"tenant"`
	ScheduledAt  Time    `json:"scheduled_at"`
	Until        Time    `json:"until,omitzero"`    // of a skipped range: every tick from ScheduledAt to here
	Status       string  `json:"status"`            // pending, running, retrying, succeeded, failed, dead, skipped, cancelled
	Reason       string  `json:"reason,omitempty"`  // of a skip or a cancellation
	Attempt      uint32  `json:"attempt"`           // number of the last or current one, from 1
	Fence        uint64  `json:"fence"`             // grows with each attempt
	DueAt        Time    `json:"due_at,omitzero"`   // of a run that is not over: when its attempt is launched
	Deadline     Time    `json:"deadline,omitzero"` // of a run that a worker is to report: when the report must have come
	LaunchedAt   Time    `json:"launched_at"`       // of the last attempt
	FinishedAt   Time    `json:"finished_at"`
	LatenessMS   float64 `json:"lateness_ms"` // launch of the first attempt minus ScheduledAt; 0 before it
	DurationMS   float64 `json:"duration_ms"` // of the last attempt
	Result       string  `json:"result,omitempty"`
	Error        string  `json:"error,omitempty"`        // of the last failed attempt
	Manual       bool    `json:"manual"`                 // asked for by a trigger or a backfill
	StaleReports uint32  `json:"stale_reports,omitzero"` // reports that were refused because they came with another fence

	Attempts []Attempt `json:"attempts,omitempty"` // the finished ones, oldest first; from runs.get, or if asked for
}

// Attempt is one finished delivery of a run.
type Attempt struct {
	Number     uint32  `json:"attempt"`
	Fence      uint64  `json:"fence"`
	LaunchedAt Time    `json:"launched_at"`
	DurationMS float64 `json:"duration_ms"`
	Error      string  `json:"error,omitempty"` // "" for the one that succeeded
}
