package scheduler

import (
	"errors"
	"slices"
	"time"

	"github.com/carillon-io/carillon/job"
)

// Proposal is a change that a caller asks for. Step settles it: it fills in the results, or Err.
// Nobody but the step looks at a proposal between its submission and its reply.
type Proposal interface {
	// bytes is an upper bound for the unit that the proposal writes, as far as the proposal knows: the step adds
	// what the job owes and what earlier attempts of a run take. Launches that the proposal withdraws, and live
	// runs that it ends, are units of their own.
	bytes() int
	// fail settles the proposal without effect.
	fail(error)
}

// errStale settles a proposal that was prepared from rows that have changed since, or that must be
// prepared from rows and was not. The proposer reads them again and asks again.
var errStale = errors.New("scheduler: proposal is out of date")

// withdrawer is a proposal that takes the waiting launches of its job off the pad before it is stepped.
type withdrawer interface {
	// withdrawn returns those launches: the proposal's own list, for changing.
	withdrawn() *[]Launch
}

// withdrawal is the common part of proposals that withdraw launches. The list is empty before and after the
// proposal is settled.
type withdrawal struct{ Withdrawn []Launch }

func (w *withdrawal) withdrawn() *[]Launch { return &w.Withdrawn }

// settled is the common part of proposals.
type settled struct{ Err error }

func (s *settled) fail(err error) { s.Err = err }

// errNotLive settles a proposal about a run that is not live: it is over, or there is none.
var errNotLive = errors.New("scheduler: run is not live")

// proposalBytes covers keys and small rows that come with any proposal, its entry in the audit log
// among them.
const proposalBytes = 2 << 10

// auditBytes covers what an entry of the audit log has besides texts.
const auditBytes = 64

// putBytes covers those of a put, closely: how many puts share a commit depends on it.
const putBytes = 320

// originBytes is what the span of a traced registration takes in the row of its job.
const originBytes = 25

// Put registers a job or updates the one of the same name.
type Put struct {
	settled
	withdrawal
	Tenant, Name string
	Hash         nameHash
	Actor        job.Actor
	Origin       job.TraceContext // the request's span, if it is sampled
	Definition   []byte           // encoded
	Masked       []byte           // the same as it came, with masks in the place of credentials; nil if it has none
	IfNew        error            // with Masked: why it registers no job that is not there
	After        []byte           // the same for the audit log; only with Prior
	Profile      job.Profile
	Schedule     *job.Schedule
	Paused       bool
	IfVersion    *uint32 // nil: any; 0: the name must be free
	Prior        *Prior  // nil: the proposer believes that the name is free
	Earlier      *Put    // of the same name, before it in the same ticket; nil: none
	last         *Put    // the newest of those that took effect, once it is settled
	again        bool    // it is proposed once more

	// Results.
	Stamp   job.Stamp
	Timer   job.Timer
	NextRun job.Millis
	Created bool
}

// Prior is what the proposer read of the job that it wants to change.
type Prior struct {
	ID        job.ID
	Version   uint32
	CreatedAt job.Millis
	Anchor    job.Millis
	Before    []byte // the definition for the audit log
	Ledger    priorLedger
}

// bytes counts the definition twice: its texts come again in the rows of the name and of the profile.
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

// inherit prepares a put from the one of the same name before it in the ticket: what that left is not in the
// store when the ticket is proposed.
func (p *Put) inherit() {
	e := p.Earlier
	if e == nil {
		return
	}
	if errors.Is(e.Err, errStale) { // it is settled again, and this one behind it
		p.Err = errStale
		return
	}
	if p.last = e.last; e.Err == nil {
		p.last = e
	}
	if p.last != nil && p.Masked != nil { // the credentials that it keeps are to be read first
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

// ledgerFor returns what is known of the ticks of a job for the put that follows this one: what its proposer has
// read, and what this one has ended since.
func (p *Put) ledgerFor(next *Put) (l priorLedger) {
	if p.Prior != nil && p.Prior.ID == p.Stamp.ID {
		l = p.Prior.Ledger
		l.over = slices.Clone(l.over)
	}
	l.decided = next.Prior != nil && next.Prior.ID == p.Stamp.ID && next.Prior.Ledger.decided
	return l
}

// auditUpTo returns what the audit log has of a put that follows this one.
func (p *Put) auditUpTo(next *Put) (from, to []byte, err error) {
	before, err := job.DecodeAuditDefinition(p.Definition)
	if err != nil {
		return nil, nil, err
	}
	return job.AuditUpdate(&before, next.Definition)
}

// Delete forgets a job.
type Delete struct {
	settled
	withdrawal
	Tenant, Name string
	Hash         nameHash
	Actor        job.Actor
	IfVersion    *uint32     // nil: any
	Before       []byte      // the definition for the audit log
	Live         []job.RunID // live runs of the job, as far as the proposer found them

	Result DeleteResult
}

func (p *Delete) bytes() int { return proposalBytes + len(p.Before) }

// Pause stops the runs of a job from being decided; Resume lets them go on.
type Pause struct {
	settled
	withdrawal
	Tenant, Name string
	Hash         nameHash
	Actor        job.Actor
	IfVersion    *uint32 // nil: any
	Resume       bool
	IfFailing    bool // only if the failures in a row that are the reason have not ended meanwhile
	Reason       string
}

func (p *Pause) bytes() int { return proposalBytes }

// Trigger starts a manual run.
type Trigger struct {
	settled
	Tenant, Name string
	Hash         nameHash
	Actor        job.Actor
	Payload      []byte
	HasPayload   bool
	PayloadJSON  bool
	Key          string  // idempotency key; "" is none
	IfVersion    *uint32 // nil: any; of no account once the key has its run
	AsOf         uint64  // LSN at which the proposer found no run under the key

	Run job.Run // result
}

func (p *Trigger) bytes() int { return proposalBytes + len(p.Payload) }

// Backfill starts a manual run for each of some ticks of the past.
type Backfill struct {
	settled
	Tenant, Name string
	Hash         nameHash
	Actor        job.Actor
	At           []job.Millis // ascending
	Rest         int          // ticks that follow in further proposals: there must be room for all
	Repeat       bool         // whether runs have fired them or not

	// What the proposer read of the job, before it read which ticks have runs.
	ID      job.ID
	Version uint32
	Manual  uint32
	Cursor  job.Millis
}

func (p *Backfill) bytes() int { return proposalBytes + runBytes*len(p.At) }

// Report says what became of a run, as its worker has it.
type Report struct {
	settled
	Run    job.RunID
	Fence  uint64
	Begun  job.Millis // when the attempt was launched that is with its target; 0: none is
	Failed bool
	Error  string
	Result string
}

func (p *Report) bytes() int { return 2*endingRowsBytes + 3*len(p.Error) + len(p.Result) }

// Extend lets a worker report later: within By from now.
type Extend struct {
	settled
	Run   job.RunID
	Fence uint64
	Begun job.Millis // as in Report
	By    time.Duration

	Deadline job.Millis // result
}

func (p *Extend) bytes() int { return endingRowsBytes }

// CancelRun ends a run that is not over.
type CancelRun struct {
	settled
	withdrawal
	Tenant, Name string
	Run          job.RunID
	Actor        job.Actor
}

func (p *CancelRun) bytes() int { return proposalBytes }

// RetryRun lets a run that is over begin another attempt.
type RetryRun struct {
	settled
	Tenant, Name string
	Hash         nameHash
	Actor        job.Actor
	Run          job.Run // as the history has it; then, as it is live
	AsOf         uint64  // LSN at which the proposer read it
}

func (p *RetryRun) bytes() int { return proposalBytes + textBytes(&p.Run) }

// Published drops notices from the outbox.
type Published struct {
	settled
	IDs []job.NoticeID
}

func (p *Published) bytes() int { return 32 * len(p.IDs) }

// Barrier changes nothing. When it is settled, so is everything that came before it.
type Barrier struct{ settled }

func (p *Barrier) bytes() int { return 0 }

// runBytes is more than what one run without errors adds to a batch, with its notice.
const runBytes = 160
