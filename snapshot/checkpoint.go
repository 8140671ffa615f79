package snapshot

import (
	"context"
	"fmt"

	"github.com/carillon-io/carillon/job"
)

// Checkpoint makes what is applied durable and returns the position up to which the store is: at least
// the one that was applied when it was called. The caller may then drop the log up to there. It runs
// beside Apply; commits applied meanwhile may be in or not. With nothing new it writes no file and
// takes microseconds.
//
// It returns ErrFailed, ErrClosed or ctx's error, and the zero position with it. When ctx ends, the
// flush goes on all the same, and a later Checkpoint finds it done.
func (s *Store) Checkpoint(ctx context.Context) (job.Position, error) {
	if !s.gate.enter() {
		return job.Position{}, ErrClosed
	}
	defer s.gate.leave()
	if err := s.fault.err(); err != nil {
		return job.Position{}, err
	}
	// Noted before the flush begins: what is applied by now is in the memtables that it takes, and an
	// Apply that comes between is flushed too, but not promised.
	want := s.Applied()
	if at := s.readDurable(); at.LSN >= want.LSN {
		return at, s.fault.err()
	}
	if err := s.flush(ctx); err != nil {
		return job.Position{}, err
	}
	at := s.readDurable()
	if at.LSN < want.LSN {
		at = s.readDurableAlone()
	}
	if at.LSN < want.LSN {
		// The log must not be truncated on the word of a flush that did not do what it is for.
		s.fault.fail(fmt.Errorf("a finished flush has left %v durable, want at least %v", at, want))
	}
	if err := s.fault.err(); err != nil {
		return job.Position{}, err
	}
	return at, nil
}

// readDurableAlone reads the durable position with no commit under way. A flush may take a commit that
// Pebble has yet to publish, and drops the head row that it replaces; a reader at that moment sees
// neither, but the one of the flush before.
func (s *Store) readDurableAlone() job.Position {
	s.applying.Lock()
	defer s.applying.Unlock()
	return s.readDurable()
}

// flush writes all memtables out and returns when the manifest names their tables.
func (s *Store) flush(ctx context.Context) error {
	var flushed <-chan struct{}
	err := s.fault.run(func() (err error) {
		flushed, err = s.db.AsyncFlush() // waits while writers do
		return err
	})
	if err != nil {
		return fmt.Errorf("snapshot: flush: %w", err)
	}
	select {
	case <-flushed:
		return nil
	case <-s.fault.failed:
		return s.fault.err()
	case <-ctx.Done():
		return ctx.Err()
	}
}

// Durable returns a position that a crash at this moment would leave at the least. It takes
// microseconds. After Close and after a failure it returns the last one known.
func (s *Store) Durable() job.Position {
	if s.gate.enter() {
		defer s.gate.leave()
		return s.readDurable()
	}
	s.durableMu.Lock()
	defer s.durableMu.Unlock()
	return s.durable
}

// readDurable reads the head row from the tables that the manifest names. A row that cannot be read is
// a failure of the store; what was known before stays true.
func (s *Store) readDurable() job.Position {
	at, err := readHead(s.db)
	if err != nil {
		s.fault.fail(fmt.Errorf("read the durable position: %w", err))
	}
	s.durableMu.Lock()
	defer s.durableMu.Unlock()
	// Two readers may come here in the opposite order of their reads.
	if err == nil && at.LSN > s.durable.LSN {
		s.durable = at
	}
	return s.durable
}
