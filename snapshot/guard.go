package snapshot

import (
	"fmt"
	"io/fs"
	"strings"

	"github.com/cockroachdb/pebble/v2/vfs"
)

// guardedFS is the file system that Pebble uses in the store's directory. It passes the result of every
// change that Pebble depends on to the store's fault: see fault.endOnError. So the first change that
// fails is also the last one attempted, and the files stay as they are at that moment. Reads continue.
//
// It also makes the change of a marker safe on file systems where a crash may keep any subset of the
// changes to a directory: see mayTouch.
//
// Every method of vfs.FS that changes a file must be here; the embedded file system provides the others.
type guardedFS struct {
	vfs.FS
	fault *fault
}

// Unwrap implements vfs.FS.
func (g guardedFS) Unwrap() vfs.FS { return g.FS }

// mayTouch returns nil if a file may be created or removed. If the file is a marker (an empty file whose
// name says which manifest or version is current), mayTouch first makes all earlier changes durable.
//
// Pebble moves a marker in this order: it writes and syncs the manifest, creates the new marker, removes
// the old marker, and then syncs the directory once. A crash before that sync may keep the new marker
// without the manifest that it names; then the store cannot be opened. Or it may keep the removal
// without the new marker; then Pebble takes the store for an empty one.
func (g guardedFS) mayTouch(name string) error {
	if err := g.fault.mayChange(); err != nil || !strings.HasPrefix(g.PathBase(name), "marker.") {
		return err
	}
	return g.fault.endOnError(syncDir(g.PathDir(name), g.FS))
}

// file wraps a file that Pebble has opened for writing, unless opening it failed.
func (g guardedFS) file(f vfs.File, err error) (vfs.File, error) {
	if err := g.fault.endOnError(err); err != nil {
		return nil, err
	}
	return guardedFile{f, g.fault}, nil
}

func (g guardedFS) Create(name string, category vfs.DiskWriteCategory) (vfs.File, error) {
	if err := g.mayTouch(name); err != nil {
		return nil, err
	}
	return g.file(g.FS.Create(name, category))
}

func (g guardedFS) OpenReadWrite(name string, category vfs.DiskWriteCategory, opts ...vfs.OpenOption) (vfs.File, error) {
	if err := g.fault.mayChange(); err != nil {
		return nil, err
	}
	return g.file(g.FS.OpenReadWrite(name, category, opts...))
}

func (g guardedFS) ReuseForWrite(from, to string, category vfs.DiskWriteCategory) (vfs.File, error) {
	if err := g.fault.mayChange(); err != nil {
		return nil, err
	}
	return g.file(g.FS.ReuseForWrite(from, to, category))
}

func (g guardedFS) OpenDir(name string) (vfs.File, error) {
	d, err := g.FS.OpenDir(name)
	if err != nil {
		return nil, err
	}
	return guardedDir{d, g.fault}, nil
}

func (g guardedFS) Link(from, to string) error {
	if err := g.fault.mayChange(); err != nil {
		return err
	}
	return g.fault.endOnError(g.FS.Link(from, to))
}

func (g guardedFS) Rename(from, to string) error {
	if err := g.fault.mayChange(); err != nil {
		return err
	}
	return g.fault.endOnError(g.FS.Rename(from, to))
}

func (g guardedFS) MkdirAll(dir string, perm fs.FileMode) error {
	if err := g.fault.mayChange(); err != nil {
		return err
	}
	return g.fault.endOnError(g.FS.MkdirAll(dir, perm))
}

// Remove may fail without ending the store: the next Open removes the file.
func (g guardedFS) Remove(name string) error {
	if err := g.mayTouch(name); err != nil {
		return err
	}
	return g.FS.Remove(name)
}

// RemoveAll may fail for the same reason as Remove.
func (g guardedFS) RemoveAll(name string) error {
	if err := g.fault.mayChange(); err != nil {
		return err
	}
	return g.FS.RemoveAll(name)
}

// guardedFile is a writable file of a guardedFS. Preallocate is not guarded, because it is only a hint;
// nor is Close, because it makes nothing durable. Each write is checked as well as each open: a flush that
// is under way at the moment of the failure has its files open already.
type guardedFile struct {
	vfs.File
	fault *fault
}

func (f guardedFile) Write(p []byte) (int, error) {
	if err := f.fault.mayChange(); err != nil {
		return 0, err
	}
	n, err := f.File.Write(p)
	return n, f.fault.endOnError(err)
}

func (f guardedFile) WriteAt(p []byte, at int64) (int, error) {
	if err := f.fault.mayChange(); err != nil {
		return 0, err
	}
	n, err := f.File.WriteAt(p, at)
	return n, f.fault.endOnError(err)
}

func (f guardedFile) Sync() error {
	if err := f.fault.mayChange(); err != nil {
		return err
	}
	return f.fault.endOnError(f.File.Sync())
}

func (f guardedFile) SyncData() error {
	if err := f.fault.mayChange(); err != nil {
		return err
	}
	return f.fault.endOnError(f.File.SyncData())
}

func (f guardedFile) SyncTo(length int64) (bool, error) {
	if err := f.fault.mayChange(); err != nil {
		return false, err
	}
	full, err := f.File.SyncTo(length)
	return full, f.fault.endOnError(err)
}

// guardedDir is an open directory of a guardedFS. Only its Sync changes anything on disk.
type guardedDir struct {
	vfs.File
	fault *fault
}

// Sync never returns an error, because Pebble panics if the sync of a marker fails. During Open a failed
// Sync ends the goroutine instead, whose deferred calls release what it holds.
func (d guardedDir) Sync() error {
	err := d.fault.mayChange()
	if err == nil {
		err = d.fault.endOnError(d.File.Sync())
	}
	if err != nil {
		d.fault.halt(fmt.Errorf("sync the directory: %w", err))
	}
	return nil
}
