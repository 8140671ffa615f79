package snapshot

import (
	"errors"
	"fmt"
	"io/fs"
	"strings"
	"sync"
	"sync/atomic"

	"github.com/cockroachdb/pebble/v2"

	"github.com/carillon-io/carillon/job"
)

// Store is an open store. Reads may come from any goroutine at any time; Apply and Checkpoint may run
// beside them and beside one another, but Apply has one caller at a time.
type Store struct {
	opts    Options
	db      *pebble.DB
	applied atomic.Pointer[job.Position]
	stalls  atomic.Uint64

	applying sync.Mutex
	failed   atomic.Pointer[error]
	failedCh chan struct{}
	failOnce sync.Once
	closed   atomic.Bool
}

// Open opens the store in a directory, or makes one in a directory that is empty or not there. It
// returns ErrInUse, ErrForeign, ErrVersion, or what Pebble met.
func Open(opts Options) (*Store, error) {
	opts = opts.withDefaults()
	if err := opts.validate(); err != nil {
		return nil, err
	}
	s := &Store{opts: opts, failedCh: make(chan struct{})}
	if err := checkDir(opts); err != nil {
		return nil, err
	}
	db, err := pebble.Open(opts.Dir, s.pebbleOptions(opts))
	if err != nil {
		return nil, openError(opts.Dir, err)
	}
	s.db = db
	at, err := s.readHead()
	if err != nil {
		return nil, errors.Join(err, db.Close())
	}
	s.applied.Store(&at)
	return s, nil
}

// checkDir refuses a directory that has files but no store, before Pebble puts its own beside them.
func checkDir(o Options) error {
	names, err := o.fs.List(o.Dir)
	if errors.Is(err, fs.ErrNotExist) || err == nil && len(names) == 0 {
		return nil
	}
	if err != nil {
		return fmt.Errorf("snapshot: open %s: %w", o.Dir, err)
	}
	desc, err := pebble.Peek(o.Dir, o.fs)
	if err != nil {
		return fmt.Errorf("snapshot: open %s: %w", o.Dir, err)
	}
	if !desc.Exists {
		for _, name := range names {
			if name != "LOCK" && !strings.HasPrefix(name, "marker.") && !strings.HasPrefix(name, "MANIFEST-") && !strings.HasPrefix(name, "OPTIONS-") {
				return fmt.Errorf("%w: %s has a file %s", ErrForeign, o.Dir, name)
			}
		}
		return nil
	}
	if desc.FormatMajorVersion > formatVersion {
		return fmt.Errorf("%w: %s has format %d of Pebble, this program writes %d", ErrVersion, o.Dir, desc.FormatMajorVersion, formatVersion)
	}
	return nil
}

func openError(dir string, err error) error {
	text := err.Error()
	if strings.Contains(text, "lock held by current process") || strings.Contains(text, "resource temporarily unavailable") {
		return fmt.Errorf("%w: %s", ErrInUse, dir)
	}
	return fmt.Errorf("snapshot: open %s: %w", dir, err)
}

// Applied returns the position of the newest commit applied; the zero position for a new store.
func (s *Store) Applied() job.Position { return *s.applied.Load() }

// Apply makes a commit visible: its rows and its position, together. The commit must follow the last
// one applied, else ErrGap. The batch is checked before anything is written. Nothing is durable yet.
func (s *Store) Apply(at job.Position, batch []byte) error {
	s.applying.Lock()
	defer s.applying.Unlock()
	if err := s.usable(); err != nil {
		return err
	}
	if last := s.Applied(); at.LSN != last.LSN+1 {
		return fmt.Errorf("%w: got LSN %d after %d", ErrGap, at.LSN, last.LSN)
	}
	b := s.db.NewBatchWithSize(len(batch) + len(batch)/4 + headBytes)
	defer func() { _ = b.Close() }()
	if err := job.Changes(batch, func(c job.Change) error { return stage(b, c) }); err != nil {
		return fmt.Errorf("snapshot: apply LSN %d: %w", at.LSN, err)
	}
	if err := b.Set(headKey, encodeHead(at), nil); err != nil {
		return fmt.Errorf("snapshot: apply LSN %d: %w", at.LSN, err)
	}
	if err := b.Commit(pebble.NoSync); err != nil {
		s.fail(err)
		return s.usable()
	}
	s.applied.Store(&at)
	return nil
}

func stage(b *pebble.Batch, c job.Change) error {
	switch c.Op {
	case job.OpPut:
		return b.Set(c.Key, c.Value, nil)
	case job.OpDelete:
		return b.Delete(c.Key, nil)
	default:
		return b.DeleteRange(c.Key, c.Value, nil)
	}
}

// fail notes the first failure, after which nothing is applied any more, and tells the owner.
func (s *Store) fail(cause error) {
	s.failOnce.Do(func() {
		err := fmt.Errorf("%w: %w", ErrFailed, cause)
		s.failed.Store(&err)
		close(s.failedCh)
		s.opts.Logger.Error("the store has failed", "dir", s.opts.Dir, "error", cause)
		s.opts.OnFatal(err)
	})
}

// usable returns why the store accepts no change, or nil.
func (s *Store) usable() error {
	if err := s.failed.Load(); err != nil {
		return *err
	}
	if s.closed.Load() {
		return ErrClosed
	}
	return nil
}

// Close flushes, so that the next Open has nothing to replay, and gives the directory up. After a
// failure it does neither: Pebble may hang, and the process is about to end. A second Close does
// nothing. Nobody may use the store meanwhile or afterwards.
func (s *Store) Close() error {
	s.applying.Lock()
	defer s.applying.Unlock()
	if s.closed.Swap(true) {
		return nil
	}
	if err := s.failed.Load(); err != nil {
		return *err
	}
	return errors.Join(s.db.Flush(), s.db.Close())
}
