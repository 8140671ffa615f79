package snapshot

import (
	"context"
	"io/fs"
	"sync/atomic"

	"github.com/cockroachdb/pebble/v2/vfs"
)

// exportingFS parts what Pebble changes in the store's own directory, which is guarded, from what it
// changes anywhere else, which is an export: a full disk there must not end the store, nor a hard link
// that is refused because a copy can take its place.
//
// Every method of vfs.FS that changes something must be here, as in guardedFS. Pebble's files lie side
// by side in the directory, so that the path tells.
type exportingFS struct {
	guardedFS
	dir     string
	outside exportFS
}

// Unwrap implements vfs.FS.
func (e exportingFS) Unwrap() vfs.FS { return e.guardedFS.FS }

// of returns the file system that is responsible for changes under this name.
func (e exportingFS) of(name string) vfs.FS {
	if name == e.dir || e.PathDir(name) == e.dir {
		return e.guardedFS
	}
	return e.outside
}

func (e exportingFS) Create(name string, category vfs.DiskWriteCategory) (vfs.File, error) {
	return e.of(name).Create(name, category)
}

func (e exportingFS) OpenReadWrite(name string, category vfs.DiskWriteCategory, opts ...vfs.OpenOption) (vfs.File, error) {
	return e.of(name).OpenReadWrite(name, category, opts...)
}

func (e exportingFS) ReuseForWrite(from, to string, category vfs.DiskWriteCategory) (vfs.File, error) {
	return e.of(to).ReuseForWrite(from, to, category)
}

func (e exportingFS) OpenDir(name string) (vfs.File, error) { return e.of(name).OpenDir(name) }

func (e exportingFS) Link(from, to string) error { return e.of(to).Link(from, to) }

func (e exportingFS) Rename(from, to string) error { return e.of(to).Rename(from, to) }

func (e exportingFS) MkdirAll(dir string, perm fs.FileMode) error {
	return e.of(dir).MkdirAll(dir, perm)
}

func (e exportingFS) Remove(name string) error { return e.of(name).Remove(name) }

func (e exportingFS) RemoveAll(name string) error { return e.of(name).RemoveAll(name) }

// exports is the export that is under way, if there is one. Pebble's has no context of its own, and so
// learns through its file system that it is over.
type exports struct {
	fault   *fault
	current atomic.Pointer[exportCall]
}

// exportCall is one export; its context ends with the first failure as its cause.
type exportCall struct {
	ctx  context.Context
	fail context.CancelCauseFunc
}

func (e *exports) begin(ctx context.Context) {
	ctx, fail := context.WithCancelCause(ctx)
	e.current.Store(&exportCall{ctx, fail})
}

func (e *exports) end() {
	if call := e.current.Swap(nil); call != nil {
		call.fail(context.Canceled)
	}
}

// may returns why the export must not go on, or nil.
func (e *exports) may() error {
	if err := e.fault.err(); err != nil {
		return err
	}
	if call := e.current.Load(); call != nil {
		return context.Cause(call.ctx)
	}
	return nil
}

// fail ends the export that is under way, and tells whether there is one.
func (e *exports) fail(err error) bool {
	call := e.current.Load()
	if call != nil {
		call.fail(err)
	}
	return call != nil
}

// exportFS is the file system of an export. It refuses to go on when there is no more reason to; what
// undoes an export it lets through.
type exportFS struct {
	vfs.FS
	exports *exports
}

func (e exportFS) Create(name string, category vfs.DiskWriteCategory) (vfs.File, error) {
	if err := e.exports.may(); err != nil {
		return nil, err
	}
	f, err := e.FS.Create(name, category)
	if err != nil {
		return nil, err
	}
	return exportFile{f, e.exports}, nil
}

func (e exportFS) OpenDir(name string) (vfs.File, error) {
	d, err := e.FS.OpenDir(name)
	if err != nil {
		return nil, err
	}
	return exportDir{d, e.exports}, nil
}

func (e exportFS) Link(from, to string) error {
	if err := e.exports.may(); err != nil {
		return err
	}
	return e.FS.Link(from, to)
}

// exportFile is a file of an export. A table that is copied is written in many pieces.
type exportFile struct {
	vfs.File
	exports *exports
}

func (f exportFile) Write(p []byte) (int, error) {
	if err := f.exports.may(); err != nil {
		return 0, err
	}
	return f.File.Write(p)
}

// exportDir is an open directory of an export.
type exportDir struct {
	vfs.File
	exports *exports
}

// Sync keeps the failure of an export to itself: Pebble panics at one, when the sync is that of a
// marker. The export ends with it all the same.
func (d exportDir) Sync() error {
	err := d.File.Sync()
	if err != nil && (d.exports.fail(err) || d.exports.fault.err() != nil) {
		return nil
	}
	return err
}
