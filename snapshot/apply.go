package snapshot

import (
	"bytes"
	"fmt"

	"github.com/cockroachdb/pebble/v2"

	"github.com/carillon-io/carillon/job"
)

// BatchBytesMax bounds the batch of one commit. The log's own bound is far below it.
const BatchBytesMax = 16 << 20

// Apply makes a commit visible to readers: its rows and its position, all at once. It is not durable
// yet, which is the log's part. The commit must have the LSN after the one applied last and no lower
// epoch, else ErrGap. The batch, as made by job.Batch, is checked from end to end before anything is
// written, else ErrBatch; it is not kept. A range whose low key is not below its high key is empty.
//
// After ErrFailed the commit may be visible or not. Apply may wait while flushes catch up; Metrics
// counts these stalls.
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
	if err := stage(b, at, batch); err != nil {
		_ = b.Close() // it was never committed, so there is nothing that could fail
		return fmt.Errorf("%w: commit %v: %w", ErrBatch, at, err)
	}
	if err := s.commit(b); err != nil {
		return err
	}
	s.applied.Store(&at)
	return nil
}

// stageBytes is what a Pebble batch takes beside the rows: its header and the head row.
const stageBytes = 128

// stage copies the changes of a commit and its position into a Pebble batch. The position goes last,
// which is of no consequence: they are applied together or not at all.
func stage(b *pebble.Batch, at job.Position, batch []byte) error {
	if len(batch) > BatchBytesMax {
		return fmt.Errorf("%d bytes are above the limit of %d", len(batch), BatchBytesMax)
	}
	err := job.Changes(batch, func(c job.Change) error { return stageChange(b, c) })
	if err != nil {
		return err
	}
	return b.Set(headKey, appendHead(make([]byte, 0, headBytes), at), nil)
}

func stageChange(b *pebble.Batch, c job.Change) error {
	switch c.Op {
	case job.OpPut:
		return b.Set(c.Key, c.Value, nil)
	case job.OpDelete:
		return b.Delete(c.Key, nil)
	case job.OpDeleteRange:
		// Pebble does not define a range that is upside down; the log may hold one, and replay must
		// get past it in the same way each time.
		if bytes.Compare(c.Key, c.Value) >= 0 {
			return nil
		}
		return b.DeleteRange(c.Key, c.Value, nil)
	default:
		return fmt.Errorf("unknown operation %d", c.Op)
	}
}

// commit hands a batch to Pebble, which owns it from then on. There is no synced write without a log of
// Pebble's own, and no need for one. An error says that nothing can be said about what is in memory.
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
