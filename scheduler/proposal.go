package scheduler

import (
	"errors"

	"github.com/carillon-io/carillon/job"
)

// Proposal is a change that a caller asks for. Step settles it: it fills in the results, or Err.
// Nobody but the step looks at a proposal between its submission and its reply.
type Proposal interface {
	// bytes is an upper bound for what the proposal adds to a batch.
	bytes() int
	// fail settles the proposal without effect.
	fail(error)
}

// errStale settles a proposal that was prepared from rows that have changed since, or that must be
// prepared from rows and was not. The proposer reads them again and asks again.
var errStale = errors.New("scheduler: proposal is out of date")

// settled is the common part of proposals.
type settled struct{ Err error }

func (s *settled) fail(err error) { s.Err = err }

// proposalBytes covers keys and small rows that come with any proposal.
const proposalBytes = 1 << 10

// putBytes covers those of a put, closely: how many puts share a commit depends on it.
const putBytes = 320

// Put registers a job or updates the one of the same name.
type Put struct {
	settled
	Tenant, Name string
	Hash         nameHash
	Definition   []byte // encoded
	Profile      job.Profile
	Schedule     *job.Schedule
	Paused       bool
	IfVersion    *uint32 // nil: any; 0: the name must be free
	Prior        *Prior  // nil: the proposer believes that the name is free
	Withdrawn    []Launch

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
	Decided   bool // the new schedule is a one-shot, and its tick is in the ledger already
}

// bytes counts the definition twice: its texts come again in the rows of the name and of the profile.
func (p *Put) bytes() int { return putBytes + 2*len(p.Definition) + settleBytes(p.Withdrawn) }

// Delete forgets a job.
type Delete struct {
	settled
	Tenant, Name string
	Hash         nameHash
	IfVersion    *uint32 // nil: any
	Withdrawn    []Launch
}

func (p *Delete) bytes() int { return proposalBytes + settleBytes(p.Withdrawn) }

// Pause stops the runs of a job from being decided; Resume lets them go on.
type Pause struct {
	settled
	Tenant, Name string
	Hash         nameHash
	Resume       bool
	Reason       string
	Withdrawn    []Launch
}

func (p *Pause) bytes() int { return proposalBytes + settleBytes(p.Withdrawn) }

// Trigger starts a manual run.
type Trigger struct {
	settled
	Tenant, Name string
	Hash         nameHash
	Payload      []byte
	HasPayload   bool
	PayloadJSON  bool
	Key          string // idempotency key; "" is none
	AsOf         uint64 // LSN at which the proposer found no run under the key

	Run job.Run // result
}

func (p *Trigger) bytes() int { return proposalBytes + len(p.Payload) }

// Backfill starts a manual run for each of some ticks of the past.
type Backfill struct {
	settled
	Tenant, Name string
	Hash         nameHash
	At           []job.Millis
}

func (p *Backfill) bytes() int { return proposalBytes + runBytes*len(p.At) }

// Barrier changes nothing. When it is settled, so is everything that came before it.
type Barrier struct{ settled }

func (p *Barrier) bytes() int { return 0 }

// runBytes is more than what one run without errors adds to a batch.
const runBytes = 96

// settleBytes bounds what it takes to settle withdrawn launches.
func settleBytes(l []Launch) int { return 2 * runBytes * len(l) }
