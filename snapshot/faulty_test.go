package snapshot

import (
	"bytes"
	"errors"
	iofs "io/fs"
	"path/filepath"
	"sync/atomic"
	"syscall"
	"testing"

	"github.com/cockroachdb/pebble/v2/vfs"
	"github.com/cockroachdb/pebble/v2/vfs/errorfs"
)

// faultyFS is a crashable file system in memory whose operations can be made to fail.
type faultyFS struct {
	vfs.FS
	mem  *vfs.MemFS
	fail atomic.Pointer[func(op errorfs.Op) error]
}

func newFaultyFS() *faultyFS {
	f := &faultyFS{mem: vfs.NewCrashableMem()}
	f.FS = errorfs.Wrap(f.mem, errorfs.InjectorFunc(func(op errorfs.Op) error {
		if fail := f.fail.Load(); fail != nil {
			return (*fail)(op)
		}
		return nil
	}))
	return f
}

func isChange(op errorfs.Op) bool { return op.Kind.ReadOrWrite() == errorfs.OpIsWrite }

// failOn makes an operation on matching files fail from now on.
func (f *faultyFS) failOn(kind errorfs.OpKind, pattern string, err error) {
	fail := func(op errorfs.Op) error {
		if match, _ := filepath.Match(pattern, filepath.Base(op.Path)); match && op.Kind == kind {
			return err
		}
		return nil
	}
	f.fail.Store(&fail)
}

// failNth makes the n-th change from now on fail, and those after it. It returns how many there were.
func (f *faultyFS) failNth(n int64) *atomic.Int64 {
	var count atomic.Int64
	fail := func(op errorfs.Op) error {
		// A file that cannot be closed is closed all the same, and its lock released; not so in memory.
		if isChange(op) && op.Kind != errorfs.OpFileClose && count.Add(1) >= n {
			return syscall.EIO
		}
		return nil
	}
	f.fail.Store(&fail)
	return &count
}

func (f *faultyFS) heal() { f.fail.Store(nil) }

// owner counts what a store tells it.
type owner struct{ told chan error }

func newOwner() owner { return owner{make(chan error, 100)} }

func (o owner) tell(err error) { o.told <- err }

// wantOnce waits until the owner is told of a failure with this cause, and sees that it was the only
// one.
func (o owner) wantOnce(t *testing.T, cause error) {
	t.Helper()
	within(t, "telling the owner", func() {
		if err := <-o.told; !errors.Is(err, ErrFailed) || !errors.Is(err, cause) {
			t.Errorf("the owner was told %v, want %v", err, cause)
		}
	})
	if len(o.told) > 0 {
		t.Errorf("the owner was told again: %v", <-o.told)
	}
}

// files returns all files of a store.
func files(t *testing.T, fs vfs.FS) map[string]string {
	t.Helper()
	names, err := fs.List(testDir)
	if err != nil {
		t.Fatal(err)
	}
	files := map[string]string{}
	for _, name := range names {
		f, err := fs.Open(fs.PathJoin(testDir, name))
		if errors.Is(err, iofs.ErrNotExist) {
			continue // Pebble removes what is obsolete when it gets to it
		}
		if err != nil {
			t.Fatal(err)
		}
		var b bytes.Buffer
		if _, err := b.ReadFrom(f); err != nil {
			t.Fatal(err)
		}
		files[name] = b.String()
		_ = f.Close()
	}
	return files
}
