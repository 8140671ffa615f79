package scheduler

import (
	"github.com/carillon-io/carillon/scheduler/core"
	"github.com/carillon-io/carillon/scheduler/pad"
)

// Ticks are the threads that launch what is due, for all engines of a process: see [pad.Ticks].
type Ticks = pad.Ticks

// NewTicks returns the ticks of a process, at most so many threads; 0: half of the processors, and one at least.
func NewTicks(most int) *Ticks { return pad.NewTicks(most) }

// What callers of an engine say and read in the words of its core.
type (
	// Settings are the constants of an engine's decisions: see [core.Settings].
	Settings = core.Settings
	// Zones is what an engine knows of the rules of timezones: see [core.Zones].
	Zones = core.Zones
	// CatchUp is the progress of catching up on missed ticks: see [core.CatchUp].
	CatchUp = core.CatchUp
	// DeleteResult says what happened to the runs of a deleted job: see [core.DeleteResult].
	DeleteResult = core.DeleteResult
	// JobState is the state of a job, as [Status] counts it. Its text is the word of the API.
	JobState = core.JobState
	// Quota bounds what a tenant uses, or says what it uses: see [core.Quota].
	Quota = core.Quota
	// Usual is the usual rate of other shards: see [core.Usual].
	Usual = core.Usual
	// Quotas are the quotas of tenants: see [core.Quotas].
	Quotas = core.Quotas
	// QuotaKind is what a quota bounds. Its text is the label of the metrics.
	QuotaKind = core.QuotaKind
	// WaitReason is what a run waits for before it can be launched. Its text is the label of the metrics.
	WaitReason = core.WaitReason
	// RowReader is a store from which a division reads: see [core.RowReader].
	RowReader = core.RowReader
	// Division is what came of dividing a store: see [core.Division].
	Division = core.Division
	// Renumbered is a job that a division gave another id: see [core.Renumbered].
	Renumbered = core.Renumbered
)

// The states of a job.
const (
	JobActive    = core.JobActive
	JobPaused    = core.JobPaused
	JobCompleted = core.JobCompleted
	JobFailed    = core.JobFailed
	JobStates    = core.JobStates // number of states
)

// What a quota of an engine bounds.
const (
	QuotaJobs     = core.QuotaJobs
	QuotaBytes    = core.QuotaBytes
	QuotaLiveRuns = core.QuotaLiveRuns
	QuotaKinds    = core.QuotaKinds // number of kinds
)

// Reasons to wait.
const (
	WaitOverlap = core.WaitOverlap // the turn of its job
	WaitCatchUp = core.WaitCatchUp // a leader, and then the pace at which missed runs are fired
	WaitTarget  = core.WaitTarget  // a place at its target
	WaitRetry   = core.WaitRetry   // the instant of the next attempt
	WaitReasons = core.WaitReasons // number of reasons
)
