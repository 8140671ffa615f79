package snapshot

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"strings"

	"github.com/carillon-io/carillon/job"
)

// Export writes a copy of the store into dir, which Open opens as a store of its own, and returns the
// position that the copy is at: at least the one that was applied when Export was called, at most the one
// that is when it returns. Dir must not exist and its parent must, outside of the store's directory. All
// of the copy is durable when Export returns.
//
// It runs beside Apply and does not hold it up; commits applied meanwhile may be in or not, whole ones.
// On the same file system the copy shares its tables with the store as hard links, so that it costs a
// flush and milliseconds, and takes space only as compactions replace the tables here; nobody may write
// into them. On another one everything is copied. One export runs at a time; a second one waits.
//
// It returns fs.ErrExist, ErrFailed, ErrClosed, ctx's error, or what the disk said, with the zero
// position; then dir is not there. A failure in dir is not one of the store, which goes on. What a crash
// leaves of dir is refused by Open as ErrForeign, and is for the caller to remove.
func (s *Store) Export(ctx context.Context, dir string) (job.Position, error) {
	if !s.gate.enter() {
		return job.Position{}, ErrClosed
	}
	defer s.gate.leave()
	select {
	case s.exporting <- struct{}{}:
		defer func() { <-s.exporting }()
	case <-ctx.Done():
		return job.Position{}, ctx.Err()
	}
	dir, err := filepath.Abs(dir) // as the store's own
	if err != nil {
		return job.Position{}, err
	}
	at, err := s.export(ctx, dir)
	if err != nil {
		return job.Position{}, fmt.Errorf("export the store %s to %s: %w", s.dir, dir, err)
	}
	return at, nil
}

func (s *Store) export(ctx context.Context, dir string) (at job.Position, err error) {
	if err := s.mayExport(dir); err != nil {
		return at, err
	}
	// Pebble's checkpoint has no memtables: they would be in its log, and it has none here.
	want, err := s.Checkpoint(ctx)
	if err != nil {
		return at, err
	}
	defer func() {
		if err != nil {
			_ = s.fs.RemoveAll(dir) // what is left of it is no store
		}
	}()
	s.exports.begin(ctx)
	defer s.exports.end()
	err = s.fault.run(func() error { return errors.Join(s.db.Checkpoint(dir), s.exports.may()) })
	if err != nil {
		return at, err
	}
	if at, err = s.inspect(dir); err != nil {
		return at, fmt.Errorf("open the copy: %w", err)
	}
	if at.LSN < want.LSN {
		return at, fmt.Errorf("the copy is at %v and the store was at %v before it", at, want)
	}
	s.awaitApplied(at)
	// Last, so that what a crash leaves of the copy is no store.
	return at, errors.Join(writeFormat(dir, s.fs), s.exports.may())
}

// awaitApplied returns when Applied is at least this position, which a flush has met in Pebble already:
// the call of Apply that put it there may have yet to say so.
func (s *Store) awaitApplied(at job.Position) {
	if s.Applied().LSN < at.LSN {
		s.applying.Lock()
		defer s.applying.Unlock()
	}
}

// mayExport refuses a directory before anything is done.
func (s *Store) mayExport(dir string) error {
	if strings.HasPrefix(dir+"/", s.dir+"/") {
		return errors.New("snapshot: the copy must be outside of the store")
	}
	switch _, err := s.fs.Stat(dir); {
	case err == nil:
		return &fs.PathError{Op: "export", Path: dir, Err: fs.ErrExist}
	case !errors.Is(err, fs.ErrNotExist):
		return err
	}
	_, err := s.fs.Stat(s.fs.PathDir(dir))
	return err
}

// inspect opens a copy for reading alone and returns its position. A flush may be installed at any
// moment, so that only the copy itself knows which it has; and a copy that was opened can be.
func (s *Store) inspect(dir string) (at job.Position, err error) {
	// A fault of its own: what the copy suffers from is not the store's.
	at, err = readAlone(dir, s.fs, nil, newFault(s.fault.logger))
	if err != nil {
		return job.Position{}, err
	}
	return at, s.fs.Remove(s.fs.PathJoin(dir, "LOCK"))
}
