package scheduler

import (
	"time"

	"github.com/carillon-io/carillon/job"
)

// Input is what one step works on.
type Input struct {
	Now       job.Millis    // wall time
	LSN       uint64        // that the commit of this step will have
	Proposals []Proposal    // in the order they came
	Outcomes  []job.Outcome // in the order they came
	Room      int           // how many more runs may go live; none is decided beyond
}

// Output is what one step decided. The order is the contract: Sealed and then Batch are durable first, each a
// commit of its own; only then do Replies leave and Launches go on the pad; and no launch goes to its target
// before its due time.
type Output struct {
	// Sealed holds the commits before Batch, of a step that outgrew one.
	Sealed []*job.Batch
	// Batch holds the last row changes, to be appended to the log and applied to the store. If it is
	// empty there is nothing to commit. See [Output.Commits].
	Batch job.Batch
	// Replies are the proposals that were settled, with their results filled in.
	Replies []Proposal
	// ProposalsTaken is how many of the proposals were settled; the rest belongs to the next step, with
	// the launches that they have withdrawn.
	ProposalsTaken int
	// Launches are the attempts to make, each at its due time.
	Launches []Launch
	// Settled are the runs that came to their end and had, or waited for, the turn of their job, or that
	// were cancelled: what the pad has of them is void.
	Settled []job.RunID
	// Aborts are runs that were ended while their attempts may be with their targets.
	Aborts []job.RunID
	// Pauses names the jobs that failed too often in a row, and are to be paused.
	Pauses []AutoPause
	// Lateness holds how late the attempts were launched that the step learned of, each from the instant at
	// which it was free to go. Manual runs are not in it: they are due when they are asked for.
	Lateness []time.Duration
	// Waits holds what those attempts, manual ones included, waited for before they were free to go.
	Waits []Wait
	// Replan says that jobs are to follow a change of a calendar.
	Replan bool
	// Notices is how many notices the batch puts into the outbox.
	Notices int
	// Reap names the jobs that were completed long enough ago to be deleted.
	Reap []Reap
	// OutcomesTaken is how many of the outcomes fitted; the rest belongs to the next step.
	OutcomesTaken int
	// WakeAt is when the next step has something to decide; 0 is never.
	WakeAt job.Millis

	sealedBytes int
	spare       []*job.Batch // for reuse
}

func (o *Output) reset() {
	o.Batch.Reset()
	o.resetSealed()
	o.Replies, o.Launches = o.Replies[:0], o.Launches[:0]
	o.Settled, o.Aborts, o.Reap, o.Pauses = o.Settled[:0], o.Aborts[:0], o.Reap[:0], o.Pauses[:0]
	o.Lateness, o.Waits, o.Replan = o.Lateness[:0], o.Waits[:0], false
	o.OutcomesTaken, o.ProposalsTaken, o.WakeAt, o.Notices = 0, 0, 0, 0
}

// Mode says how a launch behaves while as many runs of its job are going as may go at a time.
type Mode uint8

// The modes of a launch.
const (
	ModeFree      Mode = iota // does not care
	ModeSkip                  // ends as skipped
	ModeWait                  // waits for its turn
	ModeHeld                  // is a further attempt of a run that has its turn already
	ModeBufferOne             // waits for its turn, unless another does: then it ends as skipped
	ModeCancel                // ends those that are going, and takes the turn
)

// Launch is an attempt that the log knows of. It holds no pointer; what its target gets is read from
// the store ahead of the due time.
type Launch struct {
	Run        job.RunID
	Due        job.Millis
	Fence      uint64
	Attempt    uint32
	Limit      uint16 // runs of the job that may go at a time, unless Mode is ModeFree
	Mode       Mode
	HasPayload bool
	Tenant     tenantHash
	Expires    job.Millis // after it, an attempt that has waited for a place does not begin any more; 0: never
	order      uint64     // of its first arrival on the pad, where it was taken off and is put back
	queuedAt   int64      // since when it waits for a place at its target, in ns of Unix time; 0: it does not
	parked     job.Millis // when it first waited for the turn of its job; 0: it did not
}

// AutoPause names a job to be paused, and why.
type AutoPause struct {
	ID     job.ID
	Reason string
}

// Bounds of one step. A commit is one frame of the log, of at most a mebibyte.
const (
	// CommitBytesMax is the largest batch that a step makes.
	CommitBytesMax = 1<<20 - 4<<10
	// decisionsMax bounds the ticks that one step decides, so that no step takes long.
	decisionsMax = 4096
)
