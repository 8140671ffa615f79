package snapshot

import (
	"errors"
	"fmt"
	"sync"
	"sync/atomic"

	"github.com/cockroachdb/pebble/v2"
	"github.com/cockroachdb/pebble/v2/vfs"

	"github.com/carillon-io/carillon/job"
)

// Store is an open store. Its methods are safe for concurrent use; calls of Apply run one at a time.
//
// Invariant: the durable position is never after the applied one, and neither moves back.
type Store struct {
	dir    string       // absolute
	fs     vfs.FS       // not guarded; Pebble has the guarded one
	db     *pebble.DB   // closed by Close; use it only inside the gate
	lock   *pebble.Lock // on the directory; kept after a failure
	fault  *fault       // the first failure, shared with the guarded file system
	gate   gate         // counts the calls that use db
	stalls stalls
	// giveBack ends the loan of Options.Memory. It is set when Pebble opens.
	giveBack func()

	// applying is held during each Apply. It guards the order of the commits. applied is set under it,
	// after the commit is visible, and is read without it. group is used under it.
	applying sync.Mutex
	group    group
	applied  atomic.Pointer[job.Position]

	durableMu sync.Mutex
	durable   job.Position // the last known durable position

	exporting chan struct{} // holds one element while an export runs; a channel, so that waiting can be cancelled
	exports   *exports      // the export that runs, for the file system that Pebble copies with

	closeOnce sync.Once
	closeErr  error
}

// Open opens the store in a directory, or makes one if the directory is empty or does not exist. It
// returns ErrInUse, ErrForeign, ErrVersion, a *DamageError, ErrFailed or an error of the library; the
// text names the directory. After Open, the applied and the durable position are equal.
func Open(opts Options) (*Store, error) {
	opts, err := opts.withDefaults().validate()
	if err != nil {
		return nil, err
	}
	if opts.fs == nil {
		opts.fs = vfs.Default
	}
	s := &Store{dir: opts.Dir, fs: opts.fs, fault: newFault(opts.Logger), exporting: make(chan struct{}, 1), giveBack: func() {}}
	s.exports = &exports{fault: s.fault}
	if err := s.open(opts); err != nil {
		return nil, fmt.Errorf("open the store %s: %w", opts.Dir, err)
	}
	return s, nil
}

// open does the work of Open in an order that changes nothing before the store is known to be intact:
// claim the directory, examine it read-only, and only then let Pebble open it for writing.
func (s *Store) open(opts Options) (err error) {
	if s.lock, err = claimDir(opts.Dir, opts.fs, opts.Check); err != nil {
		return err
	}
	if err := examine(opts.Dir, opts.fs, s.lock, newFault(opts.Logger), opts.Check); err != nil {
		return errors.Join(err, s.lock.Close())
	}
	// Pebble opens on a goroutine of its own, which halt can end in the middle of pebble.Open.
	// open waits for the goroutine even after a failure, because it must have released its files before
	// the lock is released.
	err = <-s.fault.start(func() (err error) {
		s.db, err = pebble.Open(opts.Dir, s.pebbleOptions(opts))
		s.fault.opened.Store(err == nil)
		return err
	})
	if err != nil {
		s.giveBack()
		return errors.Join(err, s.lock.Close())
	}
	if err = s.restore(opts.Start); err == nil {
		err = s.fault.arm(opts.OnFatal)
	}
	if err != nil {
		return errors.Join(err, s.release())
	}
	return nil
}

// restore reads the position that the previous process left. Pebble has no log to replay, so everything
// it holds now is durable. A new store is at the position start.
func (s *Store) restore(start job.Position) error {
	at, err := readHead(s.db)
	if err != nil {
		return err
	}
	isNew := at == job.Position{}
	if isNew {
		at = start
	}
	s.applied.Store(&at)
	s.durable = at
	if !isNew {
		return nil
	}
	return s.Scan(nil, nil, func(key, _ []byte) (bool, error) {
		return false, fmt.Errorf("snapshot: the store is damaged: it has a row %x and no head row", key)
	})
}

// Close flushes, so that the next Open has nothing to replay, and releases the directory. It waits for
// calls that are inside the store, and must not be called from one; later calls get ErrClosed. After a
// failure it returns ErrFailed, and the directory stays locked until the process ends, unless a read has found damage and
// nothing else has failed. A second Close waits for the first and returns the same error.
func (s *Store) Close() error {
	s.closeOnce.Do(func() {
		<-s.gate.close()
		if err := s.release(); err != nil {
			s.closeErr = fmt.Errorf("close the store %s: %w", s.dir, err)
		}
	})
	return s.closeErr
}

// release flushes and closes Pebble, then releases the lock. After a failure of a change it does not wait for
// Pebble, whose Close would wait for ever for goroutines that have ended in the middle of their work;
// and it keeps the lock.
func (s *Store) release() error {
	if failed := s.fault.err(); failed != nil {
		if !s.fault.closeDamaged(s.db.Close) {
			return failed
		}
		s.giveBack()
		return errors.Join(failed, s.lock.Close())
	}
	err := s.fault.run(func() error {
		return errors.Join(s.db.Flush(), s.db.Close())
	})
	if s.fault.err() != nil {
		return err
	}
	s.giveBack()
	return errors.Join(err, s.lock.Close())
}

// Applied returns the position of the last applied commit; the zero position for a new store. It also
// works after Close.
func (s *Store) Applied() job.Position { return *s.applied.Load() }
