package snapshot

import (
	"errors"
	"maps"
	"math/rand/v2"
	"path/filepath"
	"syscall"
	"testing"

	"github.com/cockroachdb/pebble/v2/vfs"
	"github.com/cockroachdb/pebble/v2/vfs/errorfs"
)

// TestFailureEndsTheStore lets the disk fail in each way that matters while a writer is at work. The
// owner is told once, every call returns, and reads go on. Nothing reaches the disk afterwards, not
// even when it has recovered, so that what is there is what a crash at the failure would have left.
func TestFailureEndsTheStore(t *testing.T) {
	for _, c := range []struct {
		name    string
		kind    errorfs.OpKind
		pattern string
		err     error
	}{
		{"full disk under a table", errorfs.OpFileWrite, "*.sst", syscall.ENOSPC},
		{"table cannot be created", errorfs.OpCreate, "*.sst", syscall.ENOSPC},
		{"table cannot be synced", errorfs.OpFileSyncData, "*.sst", syscall.EIO},
		{"manifest cannot be written", errorfs.OpFileWrite, "MANIFEST-*", syscall.ENOSPC},
		{"manifest cannot be synced", errorfs.OpFileSync, "MANIFEST-*", syscall.EIO},
		{"table cannot be read", errorfs.OpFileReadAt, "*.sst", syscall.EIO},
		{"directory cannot be synced", errorfs.OpFileSync, filepath.Base(testDir), syscall.EIO},
	} {
		t.Run(c.name, func(t *testing.T) {
			fs, o := newFaultyFS(), newOwner()
			opts := testOptions(fs)
			opts.OnFatal = o.tell
			s := mustOpen(t, opts)
			rng := rand.New(rand.NewPCG(5, 5))
			var w twin
			for range 50 {
				w.add(t, s, randomBatch(rng))
			}
			fs.failOn(c.kind, c.pattern, c.err)
			if !writeUntilFailure(t, s, &w, rng) {
				t.Fatal("nothing failed")
			}
			o.wantOnce(t, c.err)
			fs.heal()
			checkFailed(t, s, &w)
			checkFrozen(t, s, fs.mem, &w)
			if len(o.told) > 0 {
				t.Errorf("the owner was told again: %v", <-o.told)
			}
		})
	}
}

// writeUntilFailure applies commits until one fails, and tells whether one did.
func writeUntilFailure(t *testing.T, s *Store, w *twin, rng *rand.Rand) (failed bool) {
	t.Helper()
	within(t, "Apply", func() {
		for range 2000 {
			batch := randomBatch(rng)
			if err := s.Apply(position(w.last()+1), batch); err != nil {
				if !errors.Is(err, ErrFailed) {
					t.Errorf("apply: %v", err)
				}
				failed = true
				return
			}
			w.log = append(w.log, batch)
		}
	})
	return failed
}

// checkFailed checks what each call does after a failure.
func checkFailed(t *testing.T, s *Store, w *twin) {
	t.Helper()
	within(t, "a call after the failure", func() {
		if err := s.Apply(position(w.last()+1), timerBatch(1)); !errors.Is(err, ErrFailed) {
			t.Errorf("apply: %v", err)
		}
		if at, err := s.Checkpoint(t.Context()); !errors.Is(err, ErrFailed) || at != position(0) {
			t.Errorf("checkpoint at %v: %v", at, err)
		}
		if m := s.Metrics(); m.Applied != w.last() {
			t.Errorf("metrics: %+v", m)
		}
		// The commit that met the failure may become visible or not, so that the values say nothing.
		for key := range contents(t, s) {
			if _, _, err := s.Get([]byte(key)); err != nil {
				t.Errorf("get %x: %v", key, err)
			}
		}
	})
}

// checkFrozen checks that the files of a failed store stay as they are, and hold a prefix of the log
// that has all that was durable. Close is an occasion for changes; it makes none.
func checkFrozen(t *testing.T, s *Store, mem *vfs.MemFS, w *twin) {
	t.Helper()
	before := files(t, mem)
	within(t, "Close", func() {
		for range 2 {
			if err := s.Close(); !errors.Is(err, ErrFailed) {
				t.Errorf("close: %v", err)
			}
		}
	})
	if after := files(t, mem); !maps.Equal(before, after) {
		t.Errorf("files changed after the failure")
	}
	for _, kept := range []int{0, 100} {
		cfg := vfs.CrashCloneCfg{UnsyncedDataPercent: kept, RNG: rand.New(rand.NewPCG(1, 1))}
		checkCrash(t, mem.CrashClone(cfg), w, s.Durable().LSN)
	}
}
