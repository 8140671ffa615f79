package snapshot

import (
	"fmt"
	"io/fs"
	"strings"

	"github.com/cockroachdb/pebble/v2/vfs"
)

// guardedFS is the file system that Pebble gets. It settles with the store's fault every change that
// Pebble cannot do without: see fault.settle. So the first one to fail is also the last one tried, and
// what is on disk stays as it was then. Reads go on.
//
// And it makes the change of a marker safe where a crash may keep any part of the changes to a
// directory: see mayTouch.
//
// Every method of vfs.FS that changes something must be here; the embedded one answers the others.
type guardedFS struct {
	vfs.FS
	fault *fault
}

// Unwrap implements vfs.FS.
func (g guardedFS) Unwrap() vfs.FS { return g.FS }

// mayTouch returns if a file may be created or removed. If it is a marker, an empty file that names by
// its own name what is current, all changes before this one are made durable first.
//
// Pebble moves a marker so: the manifest is written and synced, the new marker is created, the old one
// removed, and then the directory is synced, once. A crash before that may keep the new marker without
// the manifest that it names, and the store cannot be opened; or the removal without the new marker,
// and it is taken for an empty one.
func (g guardedFS) mayTouch(name string) error {
	if err := g.fault.may(); err != nil || !strings.HasPrefix(g.PathBase(name), "marker.") {
		return err
	}
	return g.fault.settle(syncDir(g.PathDir(name), g.FS))
}

func (g guardedFS) file(f vfs.File, err error) (vfs.File, error) {
	if err := g.fault.settle(err); err != nil {
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
	if err := g.fault.may(); err != nil {
		return nil, err
	}
	return g.file(g.FS.OpenReadWrite(name, category, opts...))
}

func (g guardedFS) ReuseForWrite(from, to string, category vfs.DiskWriteCategory) (vfs.File, error) {
	if err := g.fault.may(); err != nil {
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
	if err := g.fault.may(); err != nil {
		return err
	}
	return g.fault.settle(g.FS.Link(from, to))
}

func (g guardedFS) Rename(from, to string) error {
	if err := g.fault.may(); err != nil {
		return err
	}
	return g.fault.settle(g.FS.Rename(from, to))
}

func (g guardedFS) MkdirAll(dir string, perm fs.FileMode) error {
	if err := g.fault.may(); err != nil {
		return err
	}
	return g.fault.settle(g.FS.MkdirAll(dir, perm))
}

// Remove may fail: what is left over is removed by the next Open.
func (g guardedFS) Remove(name string) error {
	if err := g.mayTouch(name); err != nil {
		return err
	}
	return g.FS.Remove(name)
}

// RemoveAll may fail for the same reason.
func (g guardedFS) RemoveAll(name string) error {
	if err := g.fault.may(); err != nil {
		return err
	}
	return g.FS.RemoveAll(name)
}

// guardedFile is a file of a guardedFS that can be written. Its Preallocate is not guarded, because it
// is no more than a hint, nor is Close, which makes nothing durable.
type guardedFile struct {
	vfs.File
	fault *fault
}

func (f guardedFile) Write(p []byte) (int, error) {
	if err := f.fault.may(); err != nil {
		return 0, err
	}
	n, err := f.File.Write(p)
	return n, f.fault.settle(err)
}

func (f guardedFile) WriteAt(p []byte, at int64) (int, error) {
	if err := f.fault.may(); err != nil {
		return 0, err
	}
	n, err := f.File.WriteAt(p, at)
	return n, f.fault.settle(err)
}

func (f guardedFile) Sync() error {
	if err := f.fault.may(); err != nil {
		return err
	}
	return f.fault.settle(f.File.Sync())
}

func (f guardedFile) SyncData() error {
	if err := f.fault.may(); err != nil {
		return err
	}
	return f.fault.settle(f.File.SyncData())
}

func (f guardedFile) SyncTo(length int64) (bool, error) {
	if err := f.fault.may(); err != nil {
		return false, err
	}
	full, err := f.File.SyncTo(length)
	return full, f.fault.settle(err)
}

// guardedDir is an open directory of a guardedFS; only its sync matters.
type guardedDir struct {
	vfs.File
	fault *fault
}

// Sync does not return an error: Pebble panics at one, when the sync is that of a marker. In Open it
// ends the goroutine instead, which gives everything back on its way out.
func (d guardedDir) Sync() error {
	err := d.fault.may()
	if err == nil {
		err = d.fault.settle(d.File.Sync())
	}
	if err != nil {
		d.fault.halt(fmt.Errorf("sync the directory: %w", err))
	}
	return nil
}
