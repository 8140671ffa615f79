package core

import (
	"time"

	"github.com/carillon-io/carillon/instant"
	"github.com/carillon-io/carillon/job"
	"github.com/carillon-io/carillon/scheduler/pad"
)

// Input is what one step works on. The slices belong to the caller, and the core keeps neither beyond the step; it
// fills in the results of the proposals.
type Input struct {
	// Now is the wall time. It may be earlier than that of the last step, if the clock was set back.
	Now instant.Millis
	// LSN is that of the first commit of this step; further ones get the next numbers. The caller must not commit
	// anything else in between, because fences and ids of notices contain these numbers.
	LSN       uint64
	Proposals []Proposal    // in the order of arrival
	Outcomes  []job.Outcome // in the order of arrival
	// Room is how many more runs may go live: the runner's bound minus the live runs. No tick is decided beyond it; it
	// waits.
	Room int
	// Quotas are those in force from this step on; nil: none. A step compares the pointer with that of the last step, and
	// does work for each tenant with a quota only if it is another one.
	Quotas *Quotas
	// Usual is the usual rate of the other shards of the cluster, by which this one knows its part of the rate of catching up.
	Usual Usual
	// MayIndex is true if every node can read the rows of the index of lists.
	MayIndex bool
}

// Output is the result of one step. Its order is a contract, on which the promise of no lost and no unrecorded launch
// rests:
//
//  1. The launches of Aborts leave the pad, so that none goes to its target once its end is durable.
//  2. The Sealed batches and then Batch become durable, each as one commit.
//  3. Only then Replies leave, and Launches go onto the pad.
//  4. No launch goes to its target before its due time.
type Output struct {
	// Sealed holds the commits before Batch, if the step needs more than one.
	Sealed []*job.Batch
	// Batch holds the last row changes, to be appended to the log and applied to the store. If it is empty, there is
	// nothing to commit. See [Output.Commits].
	Batch job.Batch
	// Replies are the finished proposals, with their results filled in.
	Replies []Proposal
	// ProposalsTaken is the number of finished proposals. The rest belongs to the next step, with the launches that
	// they have withdrawn.
	ProposalsTaken int
	// Launches are the attempts to make, each at its due time. All are of runs that are live after the step.
	Launches []pad.Launch
	// Ended are the runs that ended and had, or waited for, the turn of their job, or that were cancelled. Whatever
	// the pad has of them is void.
	Ended []job.RunID
	// Going are the runs that wait for a worker's report. They have their turns, even if their end was foreseen. The
	// pad must handle Going before Ended.
	Going []job.RunID
	// Aborts are runs that were cancelled while their attempts may be with their targets, or on the pad.
	Aborts []job.RunID
	// Pauses names the jobs that failed too often in a row and are to be paused.
	Pauses []AutoPause
	// Lateness holds how late each attempt was launched that the step learned of, from the instant at which it could
	// be launched. Manual runs are not included, because they are due when they are asked for.
	Lateness []time.Duration
	// Waits holds how long those attempts, and those of manual runs, waited before they could be launched, and for
	// what.
	Waits []Wait
	// Replan is true if jobs are to follow a change of a calendar.
	Replan bool
	// Notices is the number of notices in the batches.
	Notices int
	// Reap names the jobs that are to be deleted because their retention is over.
	Reap []Reap
	// OutcomesTaken is the number of handled outcomes. The rest belongs to the next step.
	OutcomesTaken int
	// Uses holds what the tenants use whose use has changed.
	Uses []TenantUse
	// WakeAt is when the next step has something to do; 0 means never. LatestAt is by when it must come for ticks to be decided
	// well before they are due; it is not before WakeAt, and 0 if that is.
	WakeAt, LatestAt instant.Millis
	// Awaits is true if work waits for the end of any run: ticks for a share of their tenant, missed ticks for their turn, or
	// all of them for room.
	Awaits bool

	sealedBytes int
	spare       []*job.Batch // for reuse
}

// reset empties the output and keeps its memory, because a steady load fills it to the same size in each step.
func (o *Output) reset() {
	o.Batch.Reset()
	o.resetSealed()
	o.Replies, o.Launches = o.Replies[:0], o.Launches[:0]
	o.Ended, o.Going, o.Aborts, o.Reap, o.Pauses = o.Ended[:0], o.Going[:0], o.Aborts[:0], o.Reap[:0], o.Pauses[:0]
	o.Uses = o.Uses[:0]
	o.Lateness, o.Waits, o.Replan = o.Lateness[:0], o.Waits[:0], false
	o.OutcomesTaken, o.ProposalsTaken, o.WakeAt, o.LatestAt, o.Notices, o.Awaits = 0, 0, 0, 0, 0, false
}

// AutoPause names a job that is to be paused, and why.
type AutoPause struct {
	ID     job.ID
	Reason string
}

// Bounds of one step. A commit is one frame of the log, of at most a mebibyte.
const (
	// CommitBytesMax is the largest batch that a step makes.
	CommitBytesMax = 1<<20 - 4<<10
	// DecisionsMax bounds the ticks that one step decides, to keep it short.
	DecisionsMax = 4096
)
