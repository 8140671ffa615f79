package snapshot

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"log/slog"
	"path/filepath"
	"syscall"

	"github.com/cockroachdb/pebble/v2"
	"github.com/cockroachdb/pebble/v2/vfs"

	"github.com/carillon-io/carillon/job"
)

// Inspect returns the position of the store in dir. It changes nothing: it creates, writes and removes
// no file. If the directory has a lock file, it holds the lock while it reads. It returns fs.ErrNotExist
// for a directory without a store, and otherwise the errors of Open.
func Inspect(dir string) (at job.Position, err error) {
	if dir, err = filepath.Abs(dir); err != nil {
		return at, err
	}
	if at, err = inspect(dir, readOnlyFS{vfs.Default}, nil); err != nil {
		return at, fmt.Errorf("read the store %s: %w", dir, err)
	}
	return at, nil
}

// inspect does the work of Inspect. It asks whether the directory is a store before it takes the lock, so
// that a path without a store gets fs.ErrNotExist or ErrForeign and not an error of the lock. Of an intact store it then calls
// further, unless that is nil, while it has the lock.
func inspect(dir string, fsys vfs.FS, further func(*pebble.Lock) error) (at job.Position, err error) {
	isStore, err := surveyDir(dir, fsys)
	if err == nil && !isStore {
		err = fmt.Errorf("the directory holds no store: %w", fs.ErrNotExist)
	}
	if err != nil {
		return at, err
	}
	lock, err := lockDir(dir, fsys)
	if err != nil {
		return at, err
	}
	err = examine(dir, fsys, lock, newFault(slog.New(slog.DiscardHandler)), func(found job.Position) error {
		at = found
		return nil
	})
	if err == nil && further != nil {
		err = further(lock)
	}
	return at, errors.Join(err, lock.Close())
}

// errReadOnly is the error of every change of a readOnlyFS.
var errReadOnly = errors.New("snapshot: the store is open read-only")

// readOnlyFS is a file system that refuses every change with errReadOnly. Pebble's own read-only mode is
// not relied upon: a store that is only examined must stay byte for byte as it is, so that the right file
// can still be put back. Every method of vfs.FS that changes a file must be here.
type readOnlyFS struct{ vfs.FS }

// Unwrap implements vfs.FS.
func (r readOnlyFS) Unwrap() vfs.FS { return r.FS }

// Lock takes the lock if its file exists and is writable. Otherwise no lock is needed: a copy without a
// lock file, or on a read-only file system, is open in no process.
func (r readOnlyFS) Lock(name string) (io.Closer, error) {
	if _, err := r.Stat(name); errors.Is(err, fs.ErrNotExist) {
		return io.NopCloser(nil), nil
	}
	lock, err := r.FS.Lock(name)
	if pathErr := (*fs.PathError)(nil); errors.As(err, &pathErr) && (errors.Is(err, syscall.EROFS) || errors.Is(err, syscall.EACCES)) {
		return io.NopCloser(nil), nil
	}
	return lock, err
}

func (readOnlyFS) Create(string, vfs.DiskWriteCategory) (vfs.File, error) { return nil, errReadOnly }

func (readOnlyFS) OpenReadWrite(string, vfs.DiskWriteCategory, ...vfs.OpenOption) (vfs.File, error) {
	return nil, errReadOnly
}

func (readOnlyFS) ReuseForWrite(string, string, vfs.DiskWriteCategory) (vfs.File, error) {
	return nil, errReadOnly
}

func (readOnlyFS) Link(string, string) error          { return errReadOnly }
func (readOnlyFS) Rename(string, string) error        { return errReadOnly }
func (readOnlyFS) MkdirAll(string, fs.FileMode) error { return errReadOnly }
func (readOnlyFS) Remove(string) error                { return errReadOnly }
func (readOnlyFS) RemoveAll(string) error             { return errReadOnly }
