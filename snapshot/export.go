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

// Export writes a copy of the store into dir and returns the position of the copy: at least the position
// that was applied at the call, at most the one applied when Export returns. Open can open the copy as a
// store. Dir must not exist, its parent must exist, and both must be outside the store's directory. The
// whole copy is durable when Export returns.
//
// Apply may run meanwhile and does not wait for it; the copy contains each commit that it adds wholly or
// not at all. On the same file system the copy shares its tables with the store as hard links. It then
// costs a flush and milliseconds, and takes space only when compactions replace the store's tables; no
// program may write into the shared files. On another file system every file is copied. One export runs
// at a time; a second one waits.
//
// With an error it returns the zero position, and dir does not exist. The error is fs.ErrExist,
// ErrFailed, ErrClosed, ctx's error or one of the disk. A failure in dir does not end the store. After a
// crash dir may hold an incomplete copy; Open refuses it with ErrForeign, and the caller removes it.
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
	dir, err := filepath.Abs(dir) // so that it can be compared with the store's directory
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
	// Pebble's checkpoint copies tables only. It relies on Pebble's log for the memtables, and that is
	// off here, so they are flushed first.
	want, err := s.Checkpoint(ctx)
	if err != nil {
		return at, err
	}
	defer func() {
		if err != nil {
			_ = s.fs.RemoveAll(dir) // the incomplete copy; without FORMAT it is not a store in any case
		}
	}()
	s.exports.begin(ctx)
	defer s.exports.end()
	err = s.fault.run(func() error { return errors.Join(s.db.Checkpoint(dir), s.exports.mayContinue()) })
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
	// FORMAT comes last, so that an incomplete copy that a crash leaves is not a store.
	return at, errors.Join(writeFormat(dir, s.fs), s.exports.mayContinue())
}

// awaitApplied returns when Applied is at least at. A flush may already contain a commit whose call of
// Apply has not published its position yet. Without the wait, Export could return a position after
// Applied, and a caller would have a copy of a state that the store says it has not reached.
func (s *Store) awaitApplied(at job.Position) {
	if s.Applied().LSN < at.LSN {
		s.applying.Lock()
		defer s.applying.Unlock()
	}
}

// mayExport returns an error for a directory that cannot be the copy's, before Export does any work. An
// existing directory is refused, because a failed export removes the directory with all that is in it.
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

// inspect opens a copy read-only and returns its position. Another flush may complete while Pebble
// copies, so only the copy itself says which position it has. It also proves that the copy can be
// opened.
func (s *Store) inspect(dir string) (at job.Position, err error) {
	// The copy has its own fault, because its errors must not end the store.
	at, err = readAlone(dir, s.fs, nil, newFault(s.fault.logger))
	if err != nil {
		return job.Position{}, err
	}
	return at, s.fs.Remove(s.fs.PathJoin(dir, "LOCK"))
}
