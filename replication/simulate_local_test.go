package replication

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/carillon-io/carillon/job"
)

// simLocal implements Local. Its log survives the process; its store falls back to a checkpoint, and is
// replayed up to the last commit but one, because the last one may be unconfirmed.
type simLocal struct {
	*simNode
	log     *memLog
	durable job.Position // durable position of the store
	applied job.Position
	known   Known
	kept    bool          // the disk has data of the shard; only where all shards are simulated
	emptied time.Duration // when its data was removed
	notes   noted         // of the applied commits
	begun   int           // the life in which the engine is the leader's; 0: in none
}

// restart sets the state that a new process finds.
func (l *simLocal) restart() {
	if l.world.plan.mode == regrowing {
		return // its stream loses commits that were applied, for good
	}
	l.applied = l.durable // the notes may have what comes later: that is applied again, and says the same
	if before, ok := l.log.Find(l.log.Last().LSN - min(l.log.Last().LSN, 1)); ok && before.LSN > l.applied.LSN {
		l.applied = before
	}
}

func (l *simLocal) Last() job.Position                         { return l.log.Last() }
func (l *simLocal) Find(lsn uint64) (at job.Position, ok bool) { return l.log.Find(lsn) }
func (l *simLocal) Applied() job.Position                      { return l.applied }
func (l *simLocal) Durable() job.Position                      { return l.durable }

func (l *simLocal) Read(lsn uint64) (at job.Position, prev [16]byte, payload []byte, ok bool, err error) {
	f, ok, err := l.log.frame(lsn)
	return f.At, f.Prev, f.Payload, ok, err
}

func (l *simLocal) Append(epoch uint64, payload []byte) (job.Position, error) {
	if l.world.rng.IntN(8) == 0 { // else it takes no time
		l.world.sleep(l.world.between(0, 3*time.Millisecond))
	}
	return l.append(epoch, payload), nil
}

func (l *simLocal) append(epoch uint64, payload []byte) job.Position {
	prev := l.log.Last()
	l.log.add(Frame{Cluster: testCluster, At: testNext(prev, epoch, payload), Prev: prev.Hash, Payload: append([]byte(nil), payload...)})
	l.world.note("append", uint64(l.index), l.log.Last().LSN, epoch)
	return l.log.Last()
}

func (l *simLocal) Apply(at job.Position, payload []byte) error {
	found, ok := l.log.Find(at.LSN)
	if at.LSN != l.applied.LSN+1 || !ok || found != at {
		l.world.check.fail("apply", "%s applies %v after %v; its log has %v there", l.name, at, l.applied, found)
	}
	l.applied = at
	l.notes.take(at.LSN, payload)
	if l.world.rng.IntN(50) == 0 {
		l.durable = at
	}
	l.world.check.applied(l.simNode, at)
	return nil
}

func (l *simLocal) Cut(keep job.Position) error {
	if keep.LSN < l.applied.LSN {
		l.world.check.fail("cut", "%s cuts after %v, and has applied %v", l.name, keep, l.applied)
	}
	l.world.saw("own last cut off", uint64(l.index), keep.LSN)
	l.log.frames = l.log.frames[:keep.LSN-l.log.base.LSN]
	return nil
}

func (l *simLocal) Save(job.Position) error { return nil }

// Begin does what the engine does: the new epoch follows the one in the store, and the record is the same for
// every node that begins it.
func (l *simLocal) Begin() error {
	if l.begun == l.life {
		return errors.New("the engine leads")
	}
	prev, epoch := l.applied, l.applied.Epoch+1
	payload := fmt.Appendf(nil, "epoch %d", epoch)
	at, err := l.node.Append(epoch, payload)
	if err != nil {
		return err
	}
	if at.LSN != prev.LSN+1 {
		return fmt.Errorf("the log is at %d where commit %d belongs", at.LSN, prev.LSN+1)
	}
	l.begun = l.life
	return l.Apply(at, payload)
}

func (l *simLocal) Serve(context.Context, func()) error { panic("simulation: the node's loop serves") }
func (l *simLocal) Follow() error                       { l.begun = 0; return nil }
func (l *simLocal) Rest(context.Context) error          { return nil }
func (l *simLocal) Incoming() string                    { return "" }
func (l *simLocal) Export(context.Context, string) (string, job.Position, error) {
	panic("simulation: checkpoints are copied by bootstrap")
}

// Adopt replaces the data by a copy of another node's store.
func (l *simLocal) Adopt(at job.Position, ancestors []job.Position, _ Old) error {
	l.log, l.applied, l.durable = &memLog{base: at, ancestors: ancestors}, at, at
	return nil
}

// Base implements Local.
func (l *simLocal) Base() job.Position { return l.log.base }

// Ancestors implements Local.
func (l *simLocal) Ancestors(lsn uint64, most int) []job.Position {
	return l.log.ancestorsOf(lsn, most)
}

// MayReplace implements Local.
func (l *simLocal) MayReplace(Old) error { return nil }

// Known implements Local.
func (l *simLocal) Known() Known { return l.known }

// Keep implements Local.
func (l *simLocal) Keep(k Known) error {
	l.known = k
	return nil
}

// Idle implements Local.
func (l *simLocal) Idle() {}
