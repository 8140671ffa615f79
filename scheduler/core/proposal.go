package core

import (
	"errors"
	"time"

	"github.com/carillon-io/carillon/instant"
	"github.com/carillon-io/carillon/job"
	"github.com/carillon-io/carillon/scheduler/pad"
)

// Proposal is a change that a caller asks for. Step handles it: it fills in the results, or Err. Between its
// submission and its reply only the loop may access a proposal. It may be proposed again if it is stale. A step that
// returns before a proposal is finished gets it again, first in the list, as it has left it.
type Proposal interface {
	// Bytes returns an upper bound for the unit that the proposal writes, as far as the proposal can know it; the
	// step adds the debt of the job and the earlier attempts of a run. Launches that the proposal withdraws, and live
	// runs that it ends, are units of their own.
	Bytes() int
	// fail finishes the proposal with an error and without effect.
	fail(error)
}

// ErrStale means that a proposal was prepared from rows that have changed since, or was not prepared from rows and
// must be. The proposer reads the rows again and repeats the proposal. Reading happens outside the loop, so that no
// step waits for the store; the price is this error.
var ErrStale = errors.New("scheduler: proposal is out of date")

// Withdrawer is a proposal whose job's waiting launches are withdrawn from the pad before it is stepped.
type Withdrawer interface {
	// Withdrawals returns those launches: the proposal's own list, which the step may change.
	Withdrawals() *[]pad.Launch
}

// withdrawal is the common part of proposals that withdraw launches. Its list is empty before the loop accepts the
// proposal and after the step has finished it.
type withdrawal struct{ Withdrawn []pad.Launch }

// Withdrawals implements [Withdrawer].
func (w *withdrawal) Withdrawals() *[]pad.Launch { return &w.Withdrawn }

// Handled is the common part of all proposals. Err is set if the change was refused. A refusal is answered after the
// commit of its step, like a success, because it may rest on what that step has changed.
type Handled struct{ Err error }

func (s *Handled) fail(err error) { s.Err = err }

// ErrNotLive means that a run is not live: it is over, or does not exist.
var ErrNotLive = errors.New("scheduler: run is not live")

// proposalBytes covers the keys and small rows of any proposal, including its entry in the audit log.
const proposalBytes = 2 << 10

// auditBytes covers an entry of the audit log without its texts.
const auditBytes = 64

// putBytes covers the same for a put. It is tight, because it decides how many puts share a commit.
const putBytes = 320

// originBytes is the size of the span of a traced registration in the row of its job.
const originBytes = 25

// Delete deletes a job.
type Delete struct {
	Handled
	withdrawal
	Tenant, Name string
	Hash         NameHash
	Actor        job.Actor
	IfVersion    *uint32     // nil: any
	Before       []byte      // the definition for the audit log
	Record       []byte      // the row of the job, to be kept while notices of it wait; empty: it is not kept
	Keeps        bool        // the row may be kept: every node of the cluster reads what keeps it
	Live         []job.RunID // live runs of the job that the proposer found
	// Of says which job the size and the labels are of. The loop reads it again if it is not the newest when the step begins.
	Of DefinitionSize

	Result DeleteResult
}

// Bytes implements [Proposal].
func (p *Delete) Bytes() int { return proposalBytes + len(p.Before) + len(p.Record) }

// follow takes over the definition that a put has written in the same step. Whoever prepared the delete read the store, which
// does not have it yet.
func (p *Delete) follow(q *Put) {
	p.Of = DefinitionSize{ID: q.Stamp.ID, Version: q.Stamp.Version, Bytes: len(q.Definition), Labels: q.Labels}
	if def, err := job.DecodeAuditDefinition(q.Definition); err == nil { // it was encoded a moment ago
		p.Before = job.AuditDefinition(&def)
	}
	if p.Keeps {
		p.Record = job.AppendRecord(nil, q.Stamp, q.Definition)
	}
}

// DefinitionSize is the size of the encoded definition of a job, as its rows have it at a version, and its labels.
type DefinitionSize struct {
	ID      job.ID // 0: there was no such job
	Version uint32
	Bytes   int
	Labels  []job.LabelHash
}

// Pause stops the ticks of a job, or with Resume lets them continue.
type Pause struct {
	Handled
	withdrawal
	Tenant, Name string
	Hash         NameHash
	Actor        job.Actor
	IfVersion    *uint32 // nil: any
	Resume       bool
	IfFailing    bool // only if the streak of failures that caused it has not ended meanwhile
	Reason       string
}

// Bytes implements [Proposal].
func (p *Pause) Bytes() int { return proposalBytes }

// Trigger starts a manual run.
type Trigger struct {
	Handled
	Tenant, Name string
	Hash         NameHash
	Actor        job.Actor
	Payload      []byte
	HasPayload   bool
	PayloadJSON  bool
	Key          string  // idempotency key; "" means none
	IfVersion    *uint32 // nil: any; ignored if the key already has a run
	AsOf         uint64  // LSN at which the proposer found no run with the key

	Run job.Run // result
}

// Bytes implements [Proposal].
func (p *Trigger) Bytes() int { return proposalBytes + len(p.Payload) }

// Backfill starts a manual run for each of some past ticks.
type Backfill struct {
	Handled
	Tenant, Name string
	Hash         NameHash
	Actor        job.Actor
	At           []instant.Millis // ascending
	Rest         int              // ticks that will follow in further proposals: there must be room for all
	Repeat       bool             // fire a tick again even if a run has fired it

	// What the proposer read of the job, before it read which ticks have runs.
	ID      job.ID
	Version uint32
	Manual  uint32
	Cursor  instant.Millis
}

// Bytes implements [Proposal].
func (p *Backfill) Bytes() int { return proposalBytes + RunBytes*len(p.At) }

// Report is what a worker says about the outcome of its run.
type Report struct {
	Handled
	Run    job.RunID
	Fence  uint64
	Begun  instant.Millis // when the attempt that is with its target was launched; 0: none is
	Failed bool
	Error  string
	Result string
}

// Bytes implements [Proposal].
func (p *Report) Bytes() int { return 2*endingRowsBytes + 3*len(p.Error) + len(p.Result) }

// Extend moves the deadline of a report to By from now.
type Extend struct {
	Handled
	Run   job.RunID
	Fence uint64
	Begun instant.Millis // as in Report
	By    time.Duration

	Deadline instant.Millis // result
}

// Bytes implements [Proposal].
func (p *Extend) Bytes() int { return endingRowsBytes }

// CancelRun ends a run that is not over, as cancelled.
type CancelRun struct {
	Handled
	withdrawal
	Tenant, Name string
	Run          job.RunID
	Actor        job.Actor
	Attempt      uint32         // that is with its target; 0: none is
	Begun        instant.Millis // when it was launched
}

// Bytes implements [Proposal].
func (p *CancelRun) Bytes() int { return proposalBytes }

// RetryRun starts another attempt of a run that is over.
type RetryRun struct {
	Handled
	Tenant, Name string
	Hash         NameHash
	Actor        job.Actor
	Run          job.Run // in: as the history has it; out: as it is live
	AsOf         uint64  // LSN at which the proposer read it
}

// Bytes implements [Proposal].
func (p *RetryRun) Bytes() int { return proposalBytes + textBytes(&p.Run) }

// DismissRun marks a dead run as dealt with.
type DismissRun struct {
	Handled
	Tenant, Name string
	Hash         NameHash
	Actor        job.Actor
	Reason       string
	Run          job.Run // as the history has it
	AsOf         uint64  // LSN at which the proposer read it
}

// Bytes implements [Proposal].
func (p *DismissRun) Bytes() int { return proposalBytes + textBytes(&p.Run) + len(p.Reason) }

// Published deletes notices from the outbox, because they are published. Without any it only drops the definitions of
// deleted jobs that no notice needs any more.
type Published struct {
	Handled
	IDs  []job.NoticeID // ascending
	Lost int            // of these, how many were not published: the definition of their job was not kept, or events are switched off
}

// Bytes implements [Proposal].
func (p *Published) Bytes() int { return 32 * len(p.IDs) }

// Barrier changes nothing. Once it is finished, so is every earlier proposal. With Writes it proves that this leader
// can still commit: an append that another leader has overtaken fails.
type Barrier struct {
	Handled
	Writes bool // makes a commit, even if there is nothing to write
}

// Bytes implements [Proposal].
func (p *Barrier) Bytes() int { return 0 }

// RunBytes is an upper bound for what a run without errors adds to a batch, including its notice.
const RunBytes = 160

// DeleteResult says what happened to the runs of a deleted job.
type DeleteResult struct {
	Cancelled int // were waiting for their time, their turn or another attempt, and will never leave
	Running   int // are with their targets: their outcomes are recorded, and they are not retried
}
