package scheduler

import (
	"time"

	"github.com/carillon-io/carillon/histogram"
	"github.com/carillon-io/carillon/job"
)

// JobView is a job as its owner sees it: the cold row, the hot row and what follows from them.
type JobView struct {
	job.Record
	Status       string // active, paused, completed, failed
	StatusReason string
	StatusBy     string     // who paused it; "" if nobody gave a name
	NextRunAt    job.Millis // scheduled time; 0 if no run will come by itself
	NextLaunchAt job.Millis // later than NextRunAt by the job's share of its jitter
	LastRun      *job.Run   // nil if there was none
}

// RunView is a run together with the job it is of.
type RunView struct {
	job.Run
	Tenant string
	Job    string
	Manual bool
}

// PutItem is one job of a bulk registration: what Prepare made of it, or the error that keeps its place
// and touches no other.
type PutItem struct {
	Put *Put
	Err error
}

// PutResult is what became of one job of a bulk registration.
type PutResult struct {
	ID        job.ID
	Version   uint32
	NextRunAt job.Millis
	Err       error
}

// ListQuery selects jobs of one tenant, in the order of names.
type ListQuery struct {
	Tenant string
	Prefix string
	Labels []job.Pair // all must match
	Status string     // "" is any
	Limit  int        // 1 to PageMax
	After  string     // name of the last job of the page before; "" is the beginning
}

// JobPage is one page of jobs. A page can be short, even empty, and still have a Next: the work of
// one page is bounded, and a narrow filter may not find its fill.
type JobPage struct {
	Jobs []JobView
	Next string // to be given as After for the next page; "" at the end
}

// RunQuery selects runs, newest first.
type RunQuery struct {
	Tenant string
	Job    string     // "" is all jobs of the tenant, for Status dead only
	From   job.Millis // scheduled at or after; 0 is no bound
	To     job.Millis // scheduled before; 0 is no bound
	Status job.Status // 0 is any
	Limit  int        // 1 to PageMax
	After  job.RunID  // the last run of the page before; zero is the beginning
}

// RunPage is one page of runs, with the rule of [JobPage].
type RunPage struct {
	Runs []RunView
	Next job.RunID // zero at the end
}

// TriggerRequest asks for a manual run.
type TriggerRequest struct {
	Tenant      string
	Job         string
	Payload     []byte // in place of the job's own, if HasPayload
	HasPayload  bool
	PayloadJSON bool    // the payload is JSON text
	Key         string  // idempotency key; "" is none
	IfVersion   *uint32 // of the job; nil is any
}

// ReportRequest is what a worker says became of a run that it was given.
type ReportRequest struct {
	Tenant string
	Run    job.RunID
	Fence  uint64
	Failed bool
	Error  string // why, with Failed; at most job.ErrorBytesMax bytes
	Result string // else; at most job.ResultBytesMax bytes
}

// DeleteResult says what became of the runs of a job that is gone.
type DeleteResult struct {
	Cancelled int // waited for their time, their turn or another attempt, and never leave
	Running   int // are with their targets: their outcomes are recorded, nothing follows
}

// AuditQuery selects entries of the audit log of one tenant, newest first.
type AuditQuery struct {
	Tenant string
	Name   string     // of a job or a calendar; "" is any
	Action job.Action // 0 is any
	By     string     // "" is anybody
	From   job.Millis // at or after; 0 is no bound
	To     job.Millis // before; 0 is no bound
	Limit  int        // 1 to PageMax
	After  AuditPlace // of the last entry of the page before; zero is the beginning
}

// AuditPlace is where an entry stands in the audit log.
type AuditPlace struct {
	Day uint32
	ID  job.AuditID
}

// AuditPage is one page of the audit log, with the rule of [JobPage].
type AuditPage struct {
	Entries []job.AuditEntry
	Next    AuditPlace // zero at the end
}

// PageMax is the most jobs, runs or entries in one page.
const PageMax = 1000

// Status is a reading of the engine.
type Status struct {
	Role        string // leader or standby
	Shard       uint32
	Epoch       uint64
	LSN         uint64 // newest durable commit
	AppliedLSN  uint64 // newest commit that readers see
	Jobs        int    // all
	Armed       int    // waiting for a tick
	Waiting     int    // launches that have not left: Scheduled, Retrying and Backlog
	Scheduled   int    // launches within the lead: decided ahead, and their time has not come
	Retrying    int    // launches of further attempts whose instant has not come
	Backlog     int    // launches whose time has come: they wait for the turn of their job or for a place, or may not leave
	Queued      int    // of the backlog, launches that wait for a place at their target
	InFlight    int    // attempts that targets have not answered
	Live        int    // runs without an outcome
	Fired       uint64 // decisions to fire since start
	Skipped     uint64
	Succeeded   uint64
	Failed      uint64 // attempts
	Dead        uint64
	Cancelled   uint64
	Retried     uint64              // attempts after the first
	Stale       uint64              // reports refused for their fence
	SkippedBy   [job.Reasons]uint64 // by reason; a skipped range counts once
	Reporting   int                 // runs whose workers are to report
	Notices     int                 // that are still to be published
	NoticesLost uint64              // events dropped because the outbox was full

	Zones     Zones   // the rules of timezones
	CatchUp   CatchUp // of what was missed
	Commits   uint64  // since it leads
	StartedAt time.Time

	// Lateness is punctuality: launch minus the instant at which the attempt was free to go. Waited has what
	// attempts waited for until then, by reason.
	Lateness         Lateness
	Waited           [WaitReasons]Lateness
	DecisionLateness Lateness // commit of the decision minus scheduled time; 0 for those ahead of it
	CommitTime       Lateness // how long commits took until they counted; Sum and Spread matter
	CommitBytes      uint64   // of all commits since the start
	CommitSizes      histogram.Reading

	JobsBy       [JobStates]int // jobs by state: see [JobState]
	Behind       time.Duration  // how long ago the oldest tick or launch was due that should have been taken; what is missed is not in it
	ReportWaited time.Duration  // for how long the report that is awaited longest has been
}

// CatchUp is how far the engine has come with what was missed.
type CatchUp struct {
	Jobs int           // that have missed ticks still to be fired
	Rate float64       // runs a second that are spent on them
	Left time.Duration // estimated time to the end, at one run a job
}
