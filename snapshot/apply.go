package snapshot

import (
	"bytes"
	"fmt"

	"github.com/cockroachdb/pebble/v2"

	"github.com/carillon-io/carillon/job"
)

// BatchBytesMax bounds the batch of one commit, in bytes. The log's bound for a commit is far below it, so
// a larger batch is an error of the caller. Pebble would accept far larger ones, and keep each in memory
// until it is flushed.
const BatchBytesMax = 16 << 20

// Apply makes a commit visible to readers: its rows and its position, atomically. It does not make the
// commit durable; the log has done that before. The commit must have the LSN after the last applied one
// and an epoch that is not lower, otherwise Apply returns ErrGap. The batch has the form of job.Batch.
// Apply checks all of it before it writes, and returns ErrBatch if it is malformed; it does not keep the
// slice. A deleted range whose low key is not below its high key is empty.
//
// After ErrFailed it is unknown whether the commit is visible. Apply may wait until flushes catch up;
// Metrics counts these stalls.
func (s *Store) Apply(at job.Position, batch []byte) error {
	if !s.gate.enter() {
		return ErrClosed
	}
	defer s.gate.leave()
	s.applying.Lock()
	defer s.applying.Unlock()
	if err := s.fault.err(); err != nil {
		return err
	}
	if last := s.Applied(); at.LSN != last.LSN+1 || at.Epoch < last.Epoch {
		return fmt.Errorf("%w: got %v after %v", ErrGap, at, last)
	}
	b := s.db.NewBatchWithSize(len(batch) + len(batch)/8 + stageBytes)
	if err := s.stage(b, at, batch); err != nil {
		_ = b.Close() // it was never committed, so closing it cannot fail
		return fmt.Errorf("%w: commit %v: %w", ErrBatch, at, err)
	}
	if err := s.commit(b); err != nil {
		return err
	}
	// Only after the commit, so that a caller that has read Applied finds the rows of that commit.
	s.applied.Store(&at)
	return nil
}

// stageBytes is the space in a Pebble batch for its header and the head row, in bytes. Together with an
// eighth of the commit, for Pebble's own encoding of each change, it makes one allocation enough for
// usual commits; the batch grows if it is too small.
const stageBytes = 128

// stage copies the changes of a commit and its position into a Pebble batch. The order of different keys
// does not matter: Pebble applies all of them or none.
func (s *Store) stage(b *pebble.Batch, at job.Position, batch []byte) error {
	if len(batch) > BatchBytesMax {
		return fmt.Errorf("%d bytes are above the limit of %d", len(batch), BatchBytesMax)
	}
	defer s.group.reset()
	err := job.Changes(batch, func(c job.Change) error { return s.group.add(b, c) })
	if err == nil {
		err = s.group.stage(b)
	}
	if err != nil {
		return err
	}
	return b.Set(headKey, appendHead(make([]byte, 0, headBytes), at), nil)
}

// stageChange copies one change into a Pebble batch.
func stageChange(b *pebble.Batch, c job.Change) error {
	switch c.Op {
	case job.OpPut:
		return b.Set(c.Key, c.Value, nil)
	case job.OpDelete:
		return b.Delete(c.Key, nil)
	case job.OpDeleteRange:
		// Pebble does not define a range whose low key is not below its high key. The log may hold one,
		// and each replay must treat it in the same way: as empty.
		if bytes.Compare(c.Key, c.Value) >= 0 {
			return nil
		}
		return b.DeleteRange(c.Key, c.Value, nil)
	default:
		return fmt.Errorf("unknown operation %d", c.Op)
	}
}

// commit passes a batch to Pebble, which owns it from then on. The write is not synced: Pebble cannot
// sync without its own log, and the batch is already durable in ours. After an error the state of
// Pebble's memory is unknown, so the store has failed.
func (s *Store) commit(b *pebble.Batch) error {
	err := s.fault.run(func() error {
		if err := b.Commit(pebble.NoSync); err != nil {
			return err
		}
		return b.Close()
	})
	if err != nil {
		s.fault.fail(fmt.Errorf("apply: %w", err))
		return s.fault.err()
	}
	return nil
}
