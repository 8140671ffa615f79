package snapshot

import (
	"context"
	"errors"
	"math/rand/v2"
	"path/filepath"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"

	"github.com/cockroachdb/pebble/v2/vfs"
	"github.com/cockroachdb/pebble/v2/vfs/errorfs"
)

// atCopy tells whether an operation is one of an export: on the copy, or on the directory that it is in.
func atCopy(op errorfs.Op) bool {
	return op.Path == filepath.Dir(testCopy) || strings.HasPrefix(op.Path, testCopy)
}

// TestEachChangeOfAnExportFails lets the n-th change that an export makes fail, and those after it. The
// export fails, leaves nothing, and the store does not mind. A hard link that is refused is made up for
// by a copy.
func TestEachChangeOfAnExportFails(t *testing.T) {
	fs, o := newFaultyFS(), newOwner()
	opts := testOptions(fs)
	opts.OnFatal = o.tell
	s := mustOpen(t, opts)
	rng := rand.New(rand.NewPCG(8, 8))
	var w twin
	failed := 0
	for n := int64(1); ; n++ {
		w.add(t, s, randomBatch(rng))
		var count atomic.Int64
		fail := func(op errorfs.Op) error {
			removes := op.Kind == errorfs.OpRemove || op.Kind == errorfs.OpRemoveAll
			if atCopy(op) && isChange(op) && !removes && op.Kind != errorfs.OpFileClose && count.Add(1) >= n {
				return syscall.ENOSPC
			}
			return nil
		}
		fs.fail.Store(&fail)
		at, err := s.Export(t.Context(), testCopy)
		fs.heal()
		if err == nil && count.Load() < n {
			checkCopy(t, fs, &w, at)
			break
		}
		if failed++; !errors.Is(err, syscall.ENOSPC) || at != position(0) {
			t.Fatalf("change %d: %v, %v", n, at, err)
		}
		if _, err := fs.Stat(testCopy); err == nil {
			t.Fatalf("change %d: the failed export is there", n)
		}
	}
	if failed < 10 {
		t.Errorf("only %d exports failed", failed)
	}
	w.add(t, s, randomBatch(rng))
	mustClose(t, s)
	if len(o.told) > 0 {
		t.Errorf("the owner was told %v", <-o.told)
	}
}

// TestExportToAnotherFileSystem: where no hard link can be made, tables are copied.
func TestExportToAnotherFileSystem(t *testing.T) {
	fs := newFaultyFS()
	s := mustOpen(t, testOptions(fs))
	defer mustClose(t, s)
	rng := rand.New(rand.NewPCG(8, 9))
	var w twin
	for range 100 {
		w.add(t, s, randomBatch(rng))
	}
	refused := 0
	fail := func(op errorfs.Op) error {
		if op.Kind == errorfs.OpLink {
			refused++
			return syscall.EXDEV
		}
		return nil
	}
	fs.fail.Store(&fail)
	at := mustExport(t, s, testCopy)
	fs.heal()
	if refused == 0 {
		t.Error("no link was tried")
	}
	checkCopy(t, fs.mem.CrashClone(vfs.CrashCloneCfg{}), &w, at)
}

// TestExportEndsWithContext stops an export at each of its steps.
func TestExportEndsWithContext(t *testing.T) {
	fs := newFaultyFS()
	s := mustOpen(t, testOptions(fs))
	defer mustClose(t, s)
	var w twin
	w.add(t, s, timerBatch(1))
	stopped := 0
	for n := int64(1); ; n++ {
		ctx, cancel := context.WithCancel(t.Context())
		var count atomic.Int64
		fail := func(op errorfs.Op) error {
			if atCopy(op) && count.Add(1) == n {
				cancel()
			}
			return nil
		}
		fs.fail.Store(&fail)
		at, err := s.Export(ctx, testCopy)
		fs.heal()
		cancel()
		if count.Load() < n {
			checkCopy(t, fs, &w, at)
			break
		}
		if stopped++; !errors.Is(err, context.Canceled) || at != position(0) {
			t.Fatalf("stopped at step %d: %v, %v", n, at, err)
		}
		if _, err := fs.Stat(testCopy); err == nil {
			t.Fatalf("stopped at step %d, and the copy is there", n)
		}
	}
	if stopped < 10 {
		t.Errorf("stopped only %d times", stopped)
	}
}

// TestExportOfAFailingStore: the failure of the store is the export's error, and it does not hang.
func TestExportOfAFailingStore(t *testing.T) {
	fs, o := newFaultyFS(), newOwner()
	opts := testOptions(fs)
	opts.OnFatal = o.tell
	s := mustOpen(t, opts)
	mustApply(t, s, 1, timerBatch(1))
	fs.failOn(errorfs.OpCreate, "*.sst", syscall.ENOSPC)
	within(t, "Export", func() {
		for range 2 {
			if at, err := s.Export(t.Context(), testCopy); !errors.Is(err, ErrFailed) || at != position(0) {
				t.Errorf("%v, %v", at, err)
			}
		}
	})
	o.wantOnce(t, syscall.ENOSPC)
	if _, err := fs.Stat(testCopy); err == nil {
		t.Error("the copy is there")
	}
	_ = s.Close()
}

// TestExportThatACrashCutShort: at each step of an export a crash leaves no copy, one that Open refuses,
// or the whole.
func TestExportThatACrashCutShort(t *testing.T) {
	fs := newFaultyFS()
	s := mustOpen(t, testOptions(fs))
	defer mustClose(t, s)
	var w twin
	w.add(t, s, timerBatch(1))
	var left []*vfs.MemFS
	rng := rand.New(rand.NewPCG(3, 3))
	fail := func(op errorfs.Op) error {
		for _, kept := range []int{0, 50, 100} {
			if atCopy(op) && isChange(op) {
				left = append(left, fs.mem.CrashClone(vfs.CrashCloneCfg{UnsyncedDataPercent: kept, RNG: rng}))
			}
		}
		return nil
	}
	fs.fail.Store(&fail)
	at := mustExport(t, s, testCopy)
	fs.heal()
	refused := 0
	for _, mem := range left {
		if names, err := mem.List(testCopy); err != nil || len(names) == 0 {
			continue
		}
		opts := testOptions(mem)
		opts.Dir = testCopy
		c, err := Open(opts)
		if errors.Is(err, ErrForeign) {
			refused++
			continue
		}
		if err != nil || c.Applied() != position(0) && c.Applied() != at {
			t.Fatalf("a crash left something that opens with %v", err)
		}
		if c.Applied() == position(0) && len(contents(t, c)) > 0 {
			t.Fatal("a crash left rows without a position")
		}
		mustClose(t, c)
	}
	if refused < 10 {
		t.Errorf("%d outcomes of %d were refused", refused, len(left))
	}
}
