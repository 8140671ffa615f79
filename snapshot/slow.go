package snapshot

import (
	"io/fs"
	"time"

	"github.com/cockroachdb/pebble/v2/vfs"
)

// slowAfter is how long a change of the directory takes before the disk counts as slow.
const slowAfter = 5 * time.Second

// timedFS is a file system that warns of changes that take long, while they are under way. Each change has a timer of its own.
// Pebble's own detection looks at each open file every two seconds instead, so an idle process with many stores would wake all
// the time.
//
// Every method of vfs.FS that changes a file must be here, as in guardedFS.
type timedFS struct {
	vfs.FS
	after time.Duration
	warn  func(path, operation string, took time.Duration)
}

// Unwrap implements vfs.FS.
func (t timedFS) Unwrap() vfs.FS { return t.FS }

// begin notes the beginning of a change. The caller stops the timer at its end.
func (t timedFS) begin(operation, path string) *time.Timer {
	return time.AfterFunc(t.after, func() { t.warn(path, operation, t.after) })
}

// file wraps a file, unless opening it failed.
func (t timedFS) file(name string, f vfs.File, err error) (vfs.File, error) {
	if err != nil {
		return nil, err
	}
	return timedFile{f, t, name}, nil
}

func (t timedFS) Create(name string, category vfs.DiskWriteCategory) (vfs.File, error) {
	defer t.begin("create", name).Stop()
	f, err := t.FS.Create(name, category)
	return t.file(name, f, err)
}

func (t timedFS) OpenReadWrite(name string, category vfs.DiskWriteCategory, opts ...vfs.OpenOption) (vfs.File, error) {
	defer t.begin("open", name).Stop()
	f, err := t.FS.OpenReadWrite(name, category, opts...)
	return t.file(name, f, err)
}

func (t timedFS) ReuseForWrite(from, to string, category vfs.DiskWriteCategory) (vfs.File, error) {
	defer t.begin("reuse", from).Stop()
	f, err := t.FS.ReuseForWrite(from, to, category)
	return t.file(to, f, err)
}

func (t timedFS) OpenDir(name string) (vfs.File, error) {
	f, err := t.FS.OpenDir(name)
	return t.file(name, f, err)
}

func (t timedFS) Link(from, to string) error {
	defer t.begin("link", to).Stop()
	return t.FS.Link(from, to)
}

func (t timedFS) Rename(from, to string) error {
	defer t.begin("rename", to).Stop()
	return t.FS.Rename(from, to)
}

func (t timedFS) MkdirAll(dir string, perm fs.FileMode) error {
	defer t.begin("mkdir", dir).Stop()
	return t.FS.MkdirAll(dir, perm)
}

func (t timedFS) Remove(name string) error {
	defer t.begin("remove", name).Stop()
	return t.FS.Remove(name)
}

func (t timedFS) RemoveAll(name string) error {
	defer t.begin("remove", name).Stop()
	return t.FS.RemoveAll(name)
}

// timedFile is a file or a directory of a timedFS.
type timedFile struct {
	vfs.File
	fs   timedFS
	name string
}

func (f timedFile) Write(p []byte) (int, error) {
	defer f.fs.begin("write", f.name).Stop()
	return f.File.Write(p)
}

func (f timedFile) WriteAt(p []byte, at int64) (int, error) {
	defer f.fs.begin("write", f.name).Stop()
	return f.File.WriteAt(p, at)
}

func (f timedFile) Preallocate(at, length int64) error {
	defer f.fs.begin("preallocate", f.name).Stop()
	return f.File.Preallocate(at, length)
}

func (f timedFile) Sync() error {
	defer f.fs.begin("sync", f.name).Stop()
	return f.File.Sync()
}

func (f timedFile) SyncData() error {
	defer f.fs.begin("sync", f.name).Stop()
	return f.File.SyncData()
}

func (f timedFile) SyncTo(length int64) (bool, error) {
	defer f.fs.begin("sync", f.name).Stop()
	return f.File.SyncTo(length)
}
