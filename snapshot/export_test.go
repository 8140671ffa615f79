package snapshot

import (
	"errors"
	"io/fs"
	"maps"
	"math/rand/v2"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/cockroachdb/pebble/v2/vfs"

	"github.com/carillon-io/carillon/job"
)

const testCopy = "/data/copy"

// TestExportIsAPrefix exports a store again and again while commits are applied to it, with flushes and
// compactions beside. Each copy is the state after a whole commit, not before the one that was applied
// when the export began, and says after which. A crash right after the export takes nothing of it. The
// copies live on by themselves.
func TestExportIsAPrefix(t *testing.T) { seeds(t, *storeRuns, exportStore) }

func exportStore(t *testing.T, seed uint64) {
	rng := rand.New(rand.NewPCG(seed, 11))
	var w twin
	for range 900 {
		w.log = append(w.log, randomBatch(rng))
	}
	mem := vfs.NewCrashableMem()
	s := mustOpen(t, testOptions(mem))
	var writer sync.WaitGroup
	var applied atomic.Bool
	writer.Go(func() {
		defer applied.Store(true)
		for i, batch := range w.log {
			if err := s.Apply(position(uint64(i+1)), batch); err != nil {
				t.Errorf("apply: %v", err)
				return
			}
		}
	})
	copies := 0
	for last := false; !last && copies < 40; copies++ {
		last = applied.Load()
		before := s.Applied()
		at := mustExport(t, s, testCopy)
		if at.LSN < before.LSN || at.LSN > s.Applied().LSN {
			t.Fatalf("the copy is at %v; the store went from %v to %v meanwhile", at, before, s.Applied())
		}
		checkCopy(t, mem.CrashClone(vfs.CrashCloneCfg{}), &w, at)
		checkCopy(t, mem, &w, at)
		if err := mem.RemoveAll(testCopy); err != nil {
			t.Fatal(err)
		}
	}
	writer.Wait()
	if copies < 2 {
		t.Errorf("only %d copies were made", copies)
	}
	if !maps.Equal(contents(t, s), w.rows(w.last())) {
		t.Error("the exports have changed the store")
	}
	mustClose(t, s)
}

func mustExport(t testing.TB, s *Store, dir string) job.Position {
	t.Helper()
	at, err := s.Export(t.Context(), dir)
	if err != nil {
		t.Fatal(err)
	}
	return at
}

// checkCopy opens an exported store, compares it with the log up to its position, and uses it.
func checkCopy(t *testing.T, fs vfs.FS, w *twin, at job.Position) {
	t.Helper()
	opts := testOptions(fs)
	opts.Dir = testCopy
	s := mustOpen(t, opts)
	if s.Applied() != at || at != position(at.LSN) {
		t.Fatalf("the copy opens at %v; Export said %v", s.Applied(), at)
	}
	w.checkGoesOn(t, s, min(w.last(), at.LSN+20))
	mustClose(t, s)
}

// TestExportOfNothing: a store without a commit has a copy too.
func TestExportOfNothing(t *testing.T) {
	mem := vfs.NewMem()
	s := mustOpen(t, testOptions(mem))
	defer mustClose(t, s)
	if at := mustExport(t, s, testCopy); at != position(0) {
		t.Fatalf("at %v", at)
	}
	checkCopy(t, mem, &twin{log: [][]byte{timerBatch(1)}}, position(0))
}

// TestExportRefuses: nothing is overwritten, and nothing is put where it does not belong.
func TestExportRefuses(t *testing.T) {
	mem := vfs.NewMem()
	s := mustOpen(t, testOptions(mem))
	mustApply(t, s, 1, timerBatch(1))
	mustExport(t, s, testCopy)
	before := files(t, mem)
	for dir, want := range map[string]error{
		testCopy:           fs.ErrExist,
		"/nowhere/copy":    fs.ErrNotExist,
		testDir:            nil,
		testDir + "/copy":  nil,
		testDir + "/a/b/c": nil,
	} {
		at, err := s.Export(t.Context(), dir)
		if err == nil || want != nil && !errors.Is(err, want) || at != position(0) {
			t.Errorf("to %s: %v, %v", dir, at, err)
		}
	}
	if !maps.Equal(files(t, mem), before) {
		t.Error("a refused export has changed the store")
	}
	mustClose(t, s)
	if _, err := s.Export(t.Context(), "/data/late"); !errors.Is(err, ErrClosed) {
		t.Errorf("after Close: %v", err)
	}
}
