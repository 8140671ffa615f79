package snapshot

import (
	"context"
	"fmt"

	"github.com/carillon-io/carillon/job"
)

// Checkpoint makes the applied commits durable and returns the position up to which the store is
// durable: at least the position that was applied at the call. The caller may then truncate the log up
// to it. Apply may run meanwhile; whether the commits that it adds become durable is open. If nothing
// was applied since the last Checkpoint, it writes no file and takes microseconds.
//
// With an error, which is ErrFailed, ErrClosed or ctx's, it returns the zero position. If ctx ends, the
// flush continues in the background, and a later Checkpoint benefits from it.
func (s *Store) Checkpoint(ctx context.Context) (job.Position, error) {
	if !s.gate.enter() {
		return job.Position{}, ErrClosed
	}
	defer s.gate.leave()
	if err := s.fault.err(); err != nil {
		return job.Position{}, err
	}
	// want is read before the flush begins: the commits applied by now are in the memtables that the
	// flush writes. A commit applied between the two may be flushed too, but is not promised.
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
		// The caller truncates the log when Checkpoint succeeds, so a flush that did less than it
		// reports must be a failure.
		s.fault.fail(fmt.Errorf("a finished flush has left %v durable, want at least %v", at, want))
	}
	if err := s.fault.err(); err != nil {
		return job.Position{}, err
	}
	return at, nil
}

// readDurableAlone reads the durable position while no commit is under way. A flush may include a commit
// that Pebble has not published yet, and drops the head row which that commit replaces. A reader at that
// moment would see neither of the two rows, but that of the flush before.
func (s *Store) readDurableAlone() job.Position {
	s.applying.Lock()
	defer s.applying.Unlock()
	return s.readDurable()
}

// flush writes all memtables to tables and returns when the manifest names those. It does not use
// Pebble's Flush, which cannot be left when ctx ends.
func (s *Store) flush(ctx context.Context) error {
	var flushed <-chan struct{}
	err := s.fault.run(func() (err error) {
		flushed, err = s.db.AsyncFlush() // blocks while writers are stalled
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

// Durable returns a position that survives a crash at this moment; the store may be durable even
// further. It takes microseconds. After Close and after a failure it returns the last known position.
func (s *Store) Durable() job.Position {
	if s.gate.enter() {
		defer s.gate.leave()
		return s.readDurable()
	}
	s.durableMu.Lock()
	defer s.durableMu.Unlock()
	return s.durable
}

// readDurable reads the head row from the tables that the manifest names. If it cannot be read, the
// store has failed; the position known before remains valid and is returned.
func (s *Store) readDurable() job.Position {
	at, err := readHead(s.db)
	if err != nil {
		s.fault.fail(fmt.Errorf("read the durable position: %w", err))
	}
	s.durableMu.Lock()
	defer s.durableMu.Unlock()
	// Two concurrent readers may arrive here in the opposite order of their reads.
	if err == nil && at.LSN > s.durable.LSN {
		s.durable = at
	}
	return s.durable
}
