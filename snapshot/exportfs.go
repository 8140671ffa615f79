package snapshot

import (
	"context"
	"io/fs"
	"sync/atomic"

	"github.com/cockroachdb/pebble/v2/vfs"
)

// exportingFS separates Pebble's changes in the store's own directory, which are guarded, from its
// changes anywhere else, which belong to an export. A full disk at the destination of an export must not
// end the store; nor must a hard link that the file system refuses, because Pebble copies the file
// instead.
//
// Every method of vfs.FS that changes a file must be here, as in guardedFS. All of the store's files are
// directly in its directory, so the path decides which file system is responsible.
type exportingFS struct {
	guardedFS
	dir     string   // of the store
	outside exportFS // for every path that is not in dir
}

// Unwrap implements vfs.FS.
func (e exportingFS) Unwrap() vfs.FS { return e.guardedFS.FS }

// fsFor returns the file system that is responsible for changes to this path.
func (e exportingFS) fsFor(name string) vfs.FS {
	if name == e.dir || e.PathDir(name) == e.dir {
		return e.guardedFS
	}
	return e.outside
}

func (e exportingFS) Create(name string, category vfs.DiskWriteCategory) (vfs.File, error) {
	return e.fsFor(name).Create(name, category)
}

func (e exportingFS) OpenReadWrite(name string, category vfs.DiskWriteCategory, opts ...vfs.OpenOption) (vfs.File, error) {
	return e.fsFor(name).OpenReadWrite(name, category, opts...)
}

func (e exportingFS) ReuseForWrite(from, to string, category vfs.DiskWriteCategory) (vfs.File, error) {
	return e.fsFor(to).ReuseForWrite(from, to, category)
}

func (e exportingFS) OpenDir(name string) (vfs.File, error) { return e.fsFor(name).OpenDir(name) }

func (e exportingFS) Link(from, to string) error { return e.fsFor(to).Link(from, to) }

func (e exportingFS) Rename(from, to string) error { return e.fsFor(to).Rename(from, to) }

func (e exportingFS) MkdirAll(dir string, perm fs.FileMode) error {
	return e.fsFor(dir).MkdirAll(dir, perm)
}

func (e exportingFS) Remove(name string) error { return e.fsFor(name).Remove(name) }

func (e exportingFS) RemoveAll(name string) error { return e.fsFor(name).RemoveAll(name) }

// exports holds the export that is under way, if there is one. Pebble's checkpoint takes no context, so
// it is cancelled through errors of its file system.
type exports struct {
	fault   *fault                     // of the store; its failure ends an export too
	current atomic.Pointer[exportCall] // nil while no export is under way
}

// exportCall is one export. Its context ends with the caller's context or with the first failure, which
// is then its cause.
type exportCall struct {
	ctx  context.Context
	fail context.CancelCauseFunc
}

// begin notes an export as under way. The caller ensures that there is only one.
func (e *exports) begin(ctx context.Context) {
	ctx, fail := context.WithCancelCause(ctx)
	e.current.Store(&exportCall{ctx, fail})
}

// end notes that no export is under way.
func (e *exports) end() {
	if call := e.current.Swap(nil); call != nil {
		call.fail(context.Canceled)
	}
}

// mayContinue returns nil if the export may continue, otherwise the reason why it must end.
func (e *exports) mayContinue() error {
	if err := e.fault.err(); err != nil {
		return err
	}
	if call := e.current.Load(); call != nil {
		return context.Cause(call.ctx)
	}
	return nil
}

// fail ends the export that is under way, and reports whether there is one. The export then returns err at
// its next mayContinue, even though Pebble was told that the sync succeeded.
func (e *exports) fail(err error) bool {
	call := e.current.Load()
	if call != nil {
		call.fail(err)
	}
	return call != nil
}

// exportFS is the file system of an export. Once the export has failed or its context has ended, it refuses
// new files, links and writes, without which Pebble's copy cannot go on. It always allows the removals that
// undo an export.
type exportFS struct {
	vfs.FS
	exports *exports
}

func (e exportFS) Create(name string, category vfs.DiskWriteCategory) (vfs.File, error) {
	if err := e.exports.mayContinue(); err != nil {
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
	if err := e.exports.mayContinue(); err != nil {
		return err
	}
	return e.FS.Link(from, to)
}

// exportFile is a file of an export. Copying a table takes many writes, so each one checks whether the
// export may continue.
type exportFile struct {
	vfs.File
	exports *exports
}

func (f exportFile) Write(p []byte) (int, error) {
	if err := f.exports.mayContinue(); err != nil {
		return 0, err
	}
	return f.File.Write(p)
}

// exportDir is an open directory of an export.
type exportDir struct {
	vfs.File
	exports *exports
}

// Sync returns nil even if it fails, because Pebble panics if the sync of a marker fails. The failure
// ends the export instead.
func (d exportDir) Sync() error {
	err := d.File.Sync()
	if err != nil && (d.exports.fail(err) || d.exports.fault.err() != nil) {
		return nil
	}
	return err
}
