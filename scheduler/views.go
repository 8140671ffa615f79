package scheduler

import (
	"time"

	"github.com/carillon-io/carillon/histogram"
	"github.com/carillon-io/carillon/instant"
	"github.com/carillon-io/carillon/job"
)

// JobView is a job as its owner sees it: the cold row, the hot row and what follows from them. Its parts are read one
// after the other, so a change in between can show in some of them.
type JobView struct {
	job.Record
	Status       string // active, paused, completed, failed
	StatusReason string
	StatusBy     string         // who paused it; "" if not known
	NextRunAt    instant.Millis // scheduled time; 0 if the schedule causes no further run
	NextLaunchAt instant.Millis // later than NextRunAt by the job's share of its jitter
	LastRun      *job.Run       // nil if there was none
}

// RunView is a run together with its job. Its status is running also while its attempt is with its target, which only
// the engine that launched it knows.
type RunView struct {
	job.Run
	Tenant string
	Job    string
	Manual bool
}

// PutItem is one job of a bulk registration: the proposal that Prepare returned, or its error. A failed item keeps
// its place and affects no other.
type PutItem struct {
	Put *Put
	Err error
}

// PutResult is the result of one job of a bulk registration.
type PutResult struct {
	ID        job.ID
	Version   uint32
	NextRunAt instant.Millis
	Err       error
}

// RunQuery selects runs, newest first. An After stays valid when runs are added or end, because it is a place in the
// order and not a count.
type RunQuery struct {
	Tenant string
	Job    string         // "" means all jobs of the tenant, with Status dead only
	From   instant.Millis // scheduled at or after; 0 is no bound
	To     instant.Millis // scheduled before; 0 is no bound
	Status job.Status     // 0 is any
	Limit  int            // 1 to PageMax
	After  job.RunID      // the last run of the previous page; zero means the beginning

	scanMax int // how many runs the page reads; 0: runScanMax
}

// RunPage is one page of runs. Like a [JobPage], it can be short and still have a Next.
type RunPage struct {
	Runs []RunView
	Next job.RunID // zero at the end
}

// TriggerRequest asks for a manual run.
type TriggerRequest struct {
	Tenant      string
	Job         string
	Payload     []byte // used instead of the job's payload, if HasPayload
	HasPayload  bool
	PayloadJSON bool    // the payload is JSON text
	Key         string  // idempotency key; "" means none
	IfVersion   *uint32 // of the job; nil means any
}

// ReportRequest is what a worker says about the outcome of its run.
type ReportRequest struct {
	Tenant string
	Run    job.RunID
	Fence  uint64
	Failed bool
	Error  string // why it failed, with Failed; at most job.ErrorBytesMax bytes
	Result string // without Failed; at most job.ResultBytesMax bytes
}

// AuditQuery selects entries of the audit log of one tenant, newest first.
type AuditQuery struct {
	Tenant string
	Name   string         // of a job or a calendar; "" means any
	Action job.Action     // 0 means any
	By     string         // "" means any actor
	From   instant.Millis // at or after; 0 is no bound
	To     instant.Millis // before; 0 is no bound
	Limit  int            // 1 to PageMax
	After  AuditPlace     // of the last entry of the previous page; zero means the beginning
}

// AuditPlace is the place of an entry in the audit log. It serves as a cursor.
type AuditPlace struct {
	Day uint32
	ID  job.AuditID
}

// AuditPage is one page of the audit log. Like a [JobPage], it can be short and still have a Next.
type AuditPage struct {
	Entries []job.AuditEntry
	Next    AuditPlace // zero at the end
}

// PageMax is the largest number of jobs, runs or entries in one page. A larger one makes single answers, and the
// memory that they take, larger.
const PageMax = 1000

// Status is a reading of the engine. Counts run since the process started, unless the field says otherwise. It is a
// copy: nothing in it changes after it was returned.
type Status struct {
	Role        string // leader or standby
	Shard       uint32
	Epoch       uint64
	LSN         uint64 // newest durable commit
	AppliedLSN  uint64 // newest commit that readers see
	Jobs        int    // all
	Armed       int    // waiting for a tick
	Waiting     int    // launches that have not left: Scheduled + Retrying + Backlog
	Scheduled   int    // launches decided ahead that are not due yet
	Retrying    int    // launches of further attempts that are not due yet
	Backlog     int    // due launches: they wait for the turn of their job, for a place, or for permission to leave
	Queued      int    // those of Backlog that wait for a place at their target
	InFlight    int    // attempts that targets have not answered
	Live        int    // runs without an outcome
	Fired       uint64 // decisions to fire since start
	Skipped     uint64
	Succeeded   uint64
	Failed      uint64 // attempts
	Dead        uint64
	Cancelled   uint64
	Retried     uint64              // attempts after the first
	Dismissed   uint64              // dead runs that callers dismissed
	Stale       uint64              // reports refused for their fence
	SkippedBy   [job.Reasons]uint64 // by reason; a skipped range counts once
	RefusedBy   [QuotaKinds]uint64  // requests beyond a quota of the tenant
	Reporting   int                 // runs that wait for a worker's report
	Notices     int                 // still to be published
	NoticesLost uint64              // dropped notices: too many waited, nothing was kept of their deleted jobs, or events were switched off

	Zones       Zones           // the rules of timezones
	RowsVersion byte            // newest version of the rows in the store
	Readers     map[string]byte // newest version of rows that each node of the cluster reads, as noted; not to be changed
	CatchUp     CatchUp         // progress of catching up
	Commits     uint64          // since this leadership began
	StartedAt   time.Time

	// Lateness is launch minus the instant from which the attempt could be launched. Waited is how long attempts
	// waited until that instant, by reason.
	Lateness         Lateness
	Waited           [WaitReasons]Lateness
	DecisionLateness Lateness // commit of the decision minus scheduled time; 0 for ticks decided ahead
	CommitTime       Lateness // duration of commits until they counted; only Sum and Spread are meaningful
	CommitBytes      uint64   // of all commits since the start
	CommitSizes      histogram.Reading

	JobsBy       [JobStates]int // jobs by state: see [JobState]
	Behind       time.Duration  // how long ago the oldest tick or launch was due that is not handled yet; missed ticks are not included
	ReportWaited time.Duration  // how long the oldest awaited report has been awaited
	// ClockBehind is how far at least the clock is behind the latest time by which ticks are decided; 0: it is not. Jobs whose
	// ticks are decided stand still until it has caught up.
	ClockBehind time.Duration
}
