package scheduler

import (
	"errors"
	"slices"
	"time"

	"github.com/carillon-io/carillon/instant"
	"github.com/carillon-io/carillon/job"
	"github.com/carillon-io/carillon/schedule"
	"github.com/carillon-io/carillon/scheduler/pad"
)

// Proposal is a change that a caller asks for. Step handles it: it fills in the results, or Err. Between its
// submission and its reply only the loop may access a proposal.
type Proposal interface {
	// bytes returns an upper bound for the unit that the proposal writes, as far as the proposal can know it; the
	// step adds the debt of the job and the earlier attempts of a run. Launches that the proposal withdraws, and live
	// runs that it ends, are units of their own.
	bytes() int
	// fail finishes the proposal with an error and without effect.
	fail(error)
}

// errStale means that a proposal was prepared from rows that have changed since, or was not prepared from rows and
// must be. The proposer reads the rows again and repeats the proposal.
var errStale = errors.New("scheduler: proposal is out of date")

// withdrawer is a proposal whose job's waiting launches are withdrawn from the pad before it is stepped.
type withdrawer interface {
	// Withdrawals returns those launches: the proposal's own list, which the step may change.
	Withdrawals() *[]pad.Launch
}

// withdrawal is the common part of proposals that withdraw launches. Its list is empty before the loop accepts the
// proposal and after the step has finished it.
type withdrawal struct{ Withdrawn []pad.Launch }

func (w *withdrawal) Withdrawals() *[]pad.Launch { return &w.Withdrawn }

// handled is the common part of all proposals. Err is set if the change was refused.
type handled struct{ Err error }

func (s *handled) fail(err error) { s.Err = err }

// errNotLive means that a run is not live: it is over, or does not exist.
var errNotLive = errors.New("scheduler: run is not live")

// proposalBytes covers the keys and small rows of any proposal, including its entry in the audit log.
const proposalBytes = 2 << 10

// auditBytes covers an entry of the audit log without its texts.
const auditBytes = 64

// putBytes covers the same for a put. It is tight, because it decides how many puts share a commit.
const putBytes = 320

// originBytes is the size of the span of a traced registration in the row of its job.
const originBytes = 25

// Put registers a job, or updates the one with the same name.
type Put struct {
	handled
	withdrawal
	Tenant, Name string
	Hash         nameHash
	Actor        job.Actor
	Origin       job.TraceContext // the request's span, if it is sampled
	Definition   []byte           // encoded
	Masked       []byte           // the definition as it was sent, with masks in place of credentials; nil if it has none
	IfNew        error            // with Masked: why it cannot register a job that does not exist
	After        []byte           // the same for the audit log; only with Prior
	Profile      job.Profile
	Schedule     *schedule.Schedule
	Paused       bool
	IfVersion    *uint32 // nil: any; 0: the name must be unused
	Prior        *Prior  // nil: the proposer believes that the name is unused
	Earlier      *Put    // the put of the same name before it in the same ticket; nil: none
	Again        bool    // it will be proposed once more
	last         *Put    // the newest of those before it that took effect, once it is handled

	// Results.
	Stamp   job.Stamp
	Timer   job.Timer
	NextRun instant.Millis
	Created bool
}

// Prior is what the proposer read of the job that it changes.
type Prior struct {
	ID        job.ID
	Version   uint32
	CreatedAt instant.Millis
	Anchor    instant.Millis
	Before    []byte // the definition for the audit log
	Ledger    priorLedger
}

// bytes counts the definition twice, because its texts are repeated in the rows of the name and of the profile.
func (p *Put) bytes() int {
	n := putBytes + 2*len(p.Definition)
	n += auditBytes + len(p.Tenant) + len(p.Name) + len(p.Actor.By) + len(p.Actor.From)
	if p.Origin.IsValid() {
		n += originBytes
	}
	if p.Prior != nil {
		n += len(p.Prior.Before) + len(p.After) + p.Prior.Ledger.bytes()
	}
	if p.Earlier != nil {
		n += len(p.Earlier.Definition) + len(p.Definition)
	}
	for _, name := range p.Profile.Spec.Zones() {
		n += metaBytes + len(name)
	}
	return n
}

// inherit prepares a put from the one of the same name before it in the ticket, whose rows were not in the store when
// the ticket was proposed.
func (p *Put) inherit() {
	e := p.Earlier
	if e == nil {
		return
	}
	if errors.Is(e.Err, errStale) { // that one is proposed again, and so is this one
		p.Err = errStale
		return
	}
	if p.last = e.last; e.Err == nil {
		p.last = e
	}
	if p.last != nil && p.Masked != nil { // the credentials that it keeps must be read first
		p.Err = errStale
		return
	}
	if q := p.last; q != nil {
		from, to, err := q.auditUpTo(p)
		if err != nil {
			p.Err = err
			return
		}
		p.Prior = &Prior{
			ID: q.Stamp.ID, Version: q.Stamp.Version, CreatedAt: q.Stamp.CreatedAt,
			Anchor: q.Stamp.Anchor, Before: from, Ledger: q.ledgerFor(p),
		}
		p.After = to
	}
}

// ledgerFor returns what is known of the job's ticks for the put that comes after this one: what its proposer read,
// and what this put has ended since.
func (p *Put) ledgerFor(next *Put) (l priorLedger) {
	if p.Prior != nil && p.Prior.ID == p.Stamp.ID {
		l = p.Prior.Ledger
		l.over = slices.Clone(l.over)
	}
	l.decided = next.Prior != nil && next.Prior.ID == p.Stamp.ID && next.Prior.Ledger.decided
	return l
}

// auditUpTo returns the definitions before and after a put that comes after this one, for the audit log.
func (p *Put) auditUpTo(next *Put) (from, to []byte, err error) {
	before, err := job.DecodeAuditDefinition(p.Definition)
	if err != nil {
		return nil, nil, err
	}
	return job.AuditUpdate(&before, next.Definition)
}

// Delete deletes a job.
type Delete struct {
	handled
	withdrawal
	Tenant, Name string
	Hash         nameHash
	Actor        job.Actor
	IfVersion    *uint32     // nil: any
	Before       []byte      // the definition for the audit log
	Live         []job.RunID // live runs of the job that the proposer found

	Result DeleteResult
}

func (p *Delete) bytes() int { return proposalBytes + len(p.Before) }

// Pause stops the ticks of a job, or with Resume lets them continue.
type Pause struct {
	handled
	withdrawal
	Tenant, Name string
	Hash         nameHash
	Actor        job.Actor
	IfVersion    *uint32 // nil: any
	Resume       bool
	IfFailing    bool // only if the streak of failures that caused it has not ended meanwhile
	Reason       string
}

func (p *Pause) bytes() int { return proposalBytes }

// Trigger starts a manual run.
type Trigger struct {
	handled
	Tenant, Name string
	Hash         nameHash
	Actor        job.Actor
	Payload      []byte
	HasPayload   bool
	PayloadJSON  bool
	Key          string  // idempotency key; "" means none
	IfVersion    *uint32 // nil: any; ignored if the key already has a run
	AsOf         uint64  // LSN at which the proposer found no run with the key

	Run job.Run // result
}

func (p *Trigger) bytes() int { return proposalBytes + len(p.Payload) }

// Backfill starts a manual run for each of some past ticks.
type Backfill struct {
	handled
	Tenant, Name string
	Hash         nameHash
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

func (p *Backfill) bytes() int { return proposalBytes + runBytes*len(p.At) }

// Report is what a worker says about the outcome of its run.
type Report struct {
	handled
	Run    job.RunID
	Fence  uint64
	Begun  instant.Millis // when the attempt that is with its target was launched; 0: none is
	Failed bool
	Error  string
	Result string
}

func (p *Report) bytes() int { return 2*endingRowsBytes + 3*len(p.Error) + len(p.Result) }

// Extend moves the deadline of a report to By from now.
type Extend struct {
	handled
	Run   job.RunID
	Fence uint64
	Begun instant.Millis // as in Report
	By    time.Duration

	Deadline instant.Millis // result
}

func (p *Extend) bytes() int { return endingRowsBytes }

// CancelRun ends a run that is not over, as cancelled.
type CancelRun struct {
	handled
	withdrawal
	Tenant, Name string
	Run          job.RunID
	Actor        job.Actor
}

func (p *CancelRun) bytes() int { return proposalBytes }

// RetryRun starts another attempt of a run that is over.
type RetryRun struct {
	handled
	Tenant, Name string
	Hash         nameHash
	Actor        job.Actor
	Run          job.Run // in: as the history has it; out: as it is live
	AsOf         uint64  // LSN at which the proposer read it
}

func (p *RetryRun) bytes() int { return proposalBytes + textBytes(&p.Run) }

// Published deletes notices from the outbox, because they are published.
type Published struct {
	handled
	IDs []job.NoticeID
}

func (p *Published) bytes() int { return 32 * len(p.IDs) }

// Barrier changes nothing. Once it is finished, so is every earlier proposal.
type Barrier struct {
	handled
	Writes bool // makes a commit, even if there is nothing to write
}

func (p *Barrier) bytes() int { return 0 }

// runBytes is an upper bound for what a run without errors adds to a batch, including its notice.
const runBytes = 160

// DeleteResult says what happened to the runs of a deleted job.
type DeleteResult struct {
	Cancelled int // were waiting for their time, their turn or another attempt, and will never leave
	Running   int // are with their targets: their outcomes are recorded, and they are not retried
}

// unchain makes a put independent of the one before it in its ticket, whose rows are in the store now.
func (p *Put) unchain() { p.Earlier, p.last = nil, nil }
