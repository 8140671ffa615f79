package scheduler

import (
	"crypto/rand"
	"encoding/binary"
	"errors"
	"fmt"

	"github.com/carillon-io/carillon/job"
)

// A node that stands by has an engine of its own, which follows the leader commit by commit and is
// promoted when the leader is gone:
//
//	Follow -> Apply, Apply, … -> Lead -> Serve
//
// One goroutine at a time calls these. Reads and Status are safe from the beginning, for everybody.

// errStandby refuses what only the leader does.
var errStandby = job.Errorf(job.CodeNotLeader, "", "this node stands by and changes nothing; send the request to the service's subject, which only the leader answers")

// Follow loads an engine from its store, which may be empty, to follow a leader: it commits nothing and
// launches nothing. Reads work; whatever changes something is refused with [job.CodeNotLeader]. There
// is nothing to close as long as the engine does not lead.
func Follow(opts Options) (*Engine, error) {
	opts = opts.withDefaults()
	if err := opts.validate(); err != nil {
		return nil, err
	}
	e := newEngine(opts)
	if err := e.core.Load(counted(opts.Store, opts.Loading), e.hasher.hash); err != nil {
		return nil, err
	}
	e.publish(&Output{}, e.startedAt)
	return e, nil
}

// Apply takes in a commit of the leader: it applies it to the store, and the engine follows. It fails if
// the commit does not come next after what the store has, if the store fails, or if the batch has
// rows that no leader writes. After an error the engine can neither go on nor lead, and another one is to be
// made by [Follow]. batch is not kept.
func (e *Engine) Apply(at job.Position, batch []byte) error {
	if err := e.mayFollow(); err != nil {
		return fmt.Errorf("scheduler: apply commit %d: %w", at.LSN, err)
	}
	if err := e.apply(at, batch); err != nil {
		e.broken = fmt.Errorf("scheduler: apply commit %d: %w", at.LSN, err)
		return e.broken
	}
	e.publish(&Output{}, e.opts.Clock.Now())
	return nil
}

func (e *Engine) apply(at job.Position, batch []byte) error {
	if applied := e.opts.Store.Applied().LSN; at.LSN != applied+1 {
		return fmt.Errorf("the store is at commit %d; want commit %d next", applied, applied+1)
	}
	if err := e.opts.Store.Apply(at, batch); err != nil {
		return err
	}
	return e.core.follow(batch, job.MillisOf(e.opts.Clock.Now()))
}

// Idle keeps the timers of an engine that follows near the time while no commit comes. It is to be called
// about once a second then, by the caller of Apply. Without it nothing is wrong, but Lead may have to
// make up for hours of moving timers.
func (e *Engine) Idle() {
	if e.mayFollow() == nil {
		e.core.keepTime(job.MillisOf(e.opts.Clock.Now()))
	}
}

func (e *Engine) mayFollow() error {
	if e.leads.Load() {
		return errors.New("the engine leads")
	}
	return e.broken
}

// Lead makes a leader of an engine that follows: it commits the beginning of a new epoch, and makes
// ready to launch the runs that have no outcome. Nothing is launched before [Engine.Serve], which is to
// be called next. If the log does not take the commit, the error wraps the log's and nothing has
// changed: Apply may go on, and Lead may be called again.
func (e *Engine) Lead() error {
	if err := e.mayFollow(); err != nil {
		return fmt.Errorf("scheduler: lead: %w", err)
	}
	alarm, err := newAlarm()
	if err != nil {
		return err
	}
	if err := e.beginEpoch(); err != nil {
		return errors.Join(err, alarm.close())
	}
	e.alarm, e.pad.wake = alarm, alarm.ring
	e.leads.Store(true)
	e.publish(&Output{}, e.opts.Clock.Now())
	return nil
}

// beginEpoch commits the new epoch, and lets the core lead it.
func (e *Engine) beginEpoch() error {
	now := job.MillisOf(e.opts.Clock.Now())
	lsn, epoch, nextID := e.opts.Store.Applied().LSN+1, e.core.epoch+1, e.core.nextID
	if nextID == 1 {
		var err error
		if nextID, err = firstID(); err != nil {
			return err
		}
	}
	var b job.Batch
	b.PutMeta(metaEpoch, epoch)
	b.PutMeta(metaNextID, uint64(nextID))
	b.PutMeta(metaShard, uint64(e.opts.Shard))
	zones := e.core.zoneChange()
	zones.write(&b, &e.core.zones)
	if err := e.commit(epoch, &b, lsn); err != nil {
		return err
	}
	e.core.nextID = nextID
	e.core.takeZoneChange(&zones)
	launches, going, overdrawn := e.core.lead(epoch, lsn, now)
	e.sayZones(&zones)
	for _, p := range overdrawn {
		e.chores.pauses.add(p)
	}
	if e.core.replanning {
		signal(e.chores.replan)
	}
	e.pad.occupy(going)
	e.pad.add(launches, job.MillisOf(e.opts.Clock.Now()))
	return nil
}

// firstID draws where the job ids of a new cluster begin, so that those of two clusters do not meet.
func firstID() (job.ID, error) {
	var b [8]byte
	if _, err := rand.Read(b[:]); err != nil {
		return 0, fmt.Errorf("scheduler: draw the first job id: %w", err)
	}
	return job.ID(binary.LittleEndian.Uint64(b[:])>>24<<20 | 1), nil
}

// mustLead returns an error while the engine stands by.
func (e *Engine) mustLead() error {
	if e.leads.Load() {
		return nil
	}
	return errStandby
}
