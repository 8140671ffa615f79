package client

// Run is one firing of a job for one scheduled time. Times are zero and texts "" while they do not
// apply.
type Run struct {
	RunID  string `json:"run_id"` // the same for every attempt
	Job    string `json:"job"`
	Tenant string `json:"tenant"`
	// ScheduledAt is part of the run's identity, and never changes.
	ScheduledAt Time    `json:"scheduled_at"`
	Until       Time    `json:"until,omitzero"`    // of a skipped range: its last tick; ScheduledAt is its first
	Status      string  `json:"status"`            // pending, running, retrying, succeeded, failed, dead, skipped, cancelled
	Reason      string  `json:"reason,omitempty"`  // why the run was skipped or cancelled, or dead before its last attempt
	Attempt     uint32  `json:"attempt"`           // number of the last or present attempt, from 1
	Fence       uint64  `json:"fence"`             // fence of that attempt; each attempt has a higher one
	DueAt       Time    `json:"due_at,omitzero"`   // if the run is not finished: when its next attempt is launched
	Deadline    Time    `json:"deadline,omitzero"` // if a worker must report: the latest time for it
	LaunchedAt  Time    `json:"launched_at"`       // launch of the last attempt
	FinishedAt  Time    `json:"finished_at"`
	LatenessMS  float64 `json:"lateness_ms"` // launch of the first attempt minus ScheduledAt; 0 before that launch
	DurationMS  float64 `json:"duration_ms"` // duration of the last attempt
	// Result is what the worker reported; "" if none was.
	Result       string `json:"result,omitempty"`
	Error        string `json:"error,omitempty"`        // of the last failed attempt
	Manual       bool   `json:"manual"`                 // fired by a trigger or a backfill, not by the schedule
	StaleReports uint32 `json:"stale_reports,omitzero"` // reports refused because of an old fence

	// A dead run that was dismissed is not listed as dead. A retry removes the three.
	DismissedAt   Time   `json:"dismissed_at,omitzero"`
	DismissedBy   string `json:"dismissed_by,omitempty"`
	DismissReason string `json:"dismiss_reason,omitempty"`

	Attempts []Attempt `json:"attempts,omitempty"` // finished attempts, oldest first; only from runs.get, and from runs.list if requested
}

// Attempt is one finished delivery of a run. The attempt in progress is not among them: it has no end and no error
// yet.
type Attempt struct {
	Number     uint32  `json:"attempt"`
	Fence      uint64  `json:"fence"`
	LaunchedAt Time    `json:"launched_at"`
	DurationMS float64 `json:"duration_ms"`
	Error      string  `json:"error,omitempty"` // "" if it succeeded
}
