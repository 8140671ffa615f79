package scheduler

import (
	"crypto/rand"
	"encoding/binary"
	"errors"
	"fmt"

	"github.com/carillon-io/carillon/apierr"
	"github.com/carillon-io/carillon/instant"
	"github.com/carillon-io/carillon/job"
	"github.com/carillon-io/carillon/scheduler/core"
)

// A standby has an engine of its own. It follows the leader commit by commit, and is promoted when the leader is
// gone:
//
//	Follow -> Apply, Apply, … -> Lead -> Serve
//
// Only one goroutine at a time may call these. Reads and Status are safe for concurrent use from the beginning.

// errStandby refuses requests that only the leader can carry out.
var errStandby = apierr.Errorf(apierr.NotLeader, "", "this node stands by and changes nothing; send the request to the service's subject, which only the leader answers")

// Follow loads an engine from its store, which may be empty, to follow a leader. The engine commits and launches
// nothing. Reads work; every change is refused with [job.CodeNotLeader]. An engine that does not lead need not be
// closed.
func Follow(opts Options) (*Engine, error) {
	opts = opts.withDefaults()
	if err := opts.validate(); err != nil {
		return nil, err
	}
	e := newEngine(opts)
	if err := e.core.Load(newAheadScanner(opts.Store, opts.Loading), e.hasher); err != nil {
		return nil, err
	}
	e.publish(&core.Output{}, e.startedAt)
	return e, nil
}

// Apply applies a commit of the leader to the store and to the engine. It fails if the commit is not the next one
// after those in the store, if it has rows of a newer release ([job.ErrNewerRows]; the store is then unchanged), if
// the store fails, or if the batch has rows that no leader writes. After an error the engine can neither continue nor
// lead, and another one must be made by [Follow]. Apply does not keep batch.
func (e *Engine) Apply(at job.Position, batch []byte) error {
	if err := e.mayFollow(); err != nil {
		return fmt.Errorf("scheduler: apply commit %d: %w", at.LSN, err)
	}
	if err := e.apply(at, batch); err != nil {
		e.broken = fmt.Errorf("scheduler: apply commit %d: %w", at.LSN, err)
		return e.broken
	}
	e.publish(&core.Output{}, e.opts.Clock.Now())
	return nil
}

// apply checks the position and the version of the rows before the first change. The store comes before the core, so
// that another engine can be loaded from where this one failed.
func (e *Engine) apply(at job.Position, batch []byte) error {
	if applied := e.opts.Store.Applied().LSN; at.LSN != applied+1 {
		return fmt.Errorf("the store is at commit %d; want commit %d next", applied, applied+1)
	}
	if err := job.CheckRows(batch); err != nil {
		return err
	}
	if err := e.opts.Store.Apply(at, batch); err != nil {
		return err
	}
	return e.core.Follow(batch, instant.Of(e.opts.Clock.Now()))
}

// Idle advances a follower's wheel when no commits arrive. The caller of Apply should call it about once a second.
// Without it nothing goes wrong, but Lead may have to advance the wheel by hours.
func (e *Engine) Idle() {
	if e.mayFollow() == nil {
		e.core.KeepTime(instant.Of(e.opts.Clock.Now()))
	}
}

func (e *Engine) mayFollow() error {
	if e.leads.Load() {
		return errors.New("the engine leads")
	}
	return e.broken
}

// Lead makes a following engine the leader: it commits the beginning of a new epoch, and prepares the launches of the
// runs without an outcome. Nothing is launched before [Engine.Serve], which must be called next. If the log refuses
// the commit, the error wraps that of the log and nothing has changed: Apply may continue, and Lead may be called
// again.
func (e *Engine) Lead() error {
	if err := e.mayFollow(); err != nil {
		return fmt.Errorf("scheduler: lead: %w", err)
	}
	if err := e.pad.Arm(); err != nil {
		return fmt.Errorf("scheduler: lead: %w", err)
	}
	if err := e.beginEpoch(); err != nil {
		return errors.Join(err, e.pad.Disarm())
	}
	e.leads.Store(true)
	e.publish(&core.Output{}, e.opts.Clock.Now())
	return nil
}

// beginEpoch commits the new epoch, and makes the core lead it.
func (e *Engine) beginEpoch() error {
	now := instant.Of(e.opts.Clock.Now())
	epoch, err := e.core.NextEpoch(e.opts.Shard, firstID)
	if err != nil {
		return err
	}
	lsn := e.opts.Store.Applied().LSN + 1
	if err := e.commit(epoch.Number, &epoch.Batch, lsn); err != nil {
		return err
	}
	t := e.core.Lead(epoch, lsn, now)
	e.logZones(&t)
	for _, p := range t.Overdrawn {
		e.housekeeping.pauses.add(p)
	}
	if t.Replan {
		notify(e.housekeeping.replan)
	}
	// The order is that of core.Takeover: runs that wait for a report have their turns before any launch asks for one.
	e.pad.Occupy(t.Going)
	e.pad.Add(t.Launches, instant.Of(e.opts.Clock.Now()))
	e.pad.EndGoing(t.Outdone)
	return nil
}

// firstCounterBits bounds the counter of the first job. It leaves three quarters of all counters to count on, and two
// installations with ten million jobs each have a counter in common with a probability of 10^-9.
const firstCounterBits = 54

// firstID draws the first job id of a new cluster at random, so that the ids of two clusters differ.
func firstID() (job.ID, error) {
	var b [8]byte
	if _, err := rand.Read(b[:]); err != nil {
		return 0, fmt.Errorf("scheduler: draw the first job id: %w", err)
	}
	return job.NewID(binary.LittleEndian.Uint64(b[:])>>(64-firstCounterBits)|1, 0), nil
}

// mustLead returns an error while the engine stands by.
func (e *Engine) mustLead() error {
	if e.leads.Load() {
		return nil
	}
	return errStandby
}
