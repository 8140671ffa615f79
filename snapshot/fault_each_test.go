package snapshot

import (
	"bytes"
	"errors"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"strings"
	"syscall"
	"testing"

	"github.com/cockroachdb/pebble/v2/vfs"

	"github.com/carillon-io/carillon/instant"
	"github.com/carillon-io/carillon/job"
)

// TestEachChangeFails lets the n-th change to the directory fail, and all that follow, for n over the
// whole life of a store: opening, writing, flushing, compacting, closing.
func TestEachChangeFails(t *testing.T) {
	step := int64(5)
	switch {
	case *storeRuns >= thorough:
		step = 1
	case testing.Short():
		step = 25
	}
	for n := int64(1); ; n += step {
		fs, o := newFaultyFS(), newOwner()
		count := fs.failNth(n)
		opts := testOptions(fs)
		opts.OnFatal = o.tell
		var w twin
		var durable uint64
		within(t, fmt.Sprintf("a life that fails at change %d", n), func() { durable = life(t, opts, &w) })
		fs.heal()
		checkCrash(t, fs.mem.CrashClone(vfs.CrashCloneCfg{}), &w, durable)
		if count.Load() < n {
			return
		}
	}
}

// life opens a store, writes some flushes' worth, makes checkpoints and closes. It returns what was
// durable for certain. A commit that failed may not be there, nor any after it.
func life(t *testing.T, opts Options, w *twin) (durable uint64) {
	s, err := Open(opts)
	if err != nil {
		return 0
	}
	rng := rand.New(rand.NewPCG(2, 2))
	for i := range 60 {
		batch := randomBatch(rng)
		if s.Apply(position(w.last()+1), batch) != nil {
			break
		}
		w.log = append(w.log, batch)
		if at, err := s.Checkpoint(t.Context()); i%6 == 0 && err == nil {
			durable = at.LSN
		}
	}
	durable = max(durable, s.Durable().LSN)
	if s.Close() == nil {
		durable = w.last()
	}
	return durable
}

// TestOpenFails: a failure in Open is Open's error and nobody else's. The directory is not left
// locked, and the next Open works.
func TestOpenFails(t *testing.T) {
	for n := int64(1); ; n++ {
		fs, o := newFaultyFS(), newOwner()
		opts := testOptions(fs)
		opts.OnFatal = o.tell
		fs.failNth(n)
		var s *Store
		var err error
		within(t, "Open", func() { s, err = Open(opts) })
		fs.heal()
		if err == nil {
			within(t, "Close", func() { _ = s.Close() })
			if n < 20 {
				t.Fatalf("change %d failed, and Open did not", n)
			}
			return
		}
		if !errors.Is(err, syscall.EIO) || !strings.Contains(err.Error(), testDir) || len(o.told) > 0 {
			t.Fatalf("change %d: %v; the owner was told %d times", n, err, len(o.told))
		}
		mustClose(t, mustOpen(t, opts))
	}
}

// TestFatalf: where Pebble cannot go on for a reason of its own, it does not, and does not take the
// process with it.
func TestFatalf(t *testing.T) {
	o := newOwner()
	f := newFault(slog.New(slog.DiscardHandler))
	f.opened.Store(true)
	if err := f.arm(o.tell); err != nil {
		t.Fatal(err)
	}
	returned := make(chan struct{})
	go func() {
		defer close(returned)
		quiet{f}.Fatalf("manifest apply failed: %v", syscall.EINVAL)
	}()
	o.wantOnce(t, syscall.EINVAL)
	if err := f.run(func() error { return nil }); !errors.Is(err, ErrFailed) || !strings.Contains(err.Error(), "manifest apply failed") {
		t.Errorf("afterwards: %v", err)
	}
	select {
	case <-returned:
		t.Error("Fatalf has returned")
	default:
	}
}

// TestCorruptTable: a reader gets the error, and the owner is told.
func TestCorruptTable(t *testing.T) {
	mem, o := vfs.NewMem(), newOwner()
	opts := testOptions(mem)
	opts.OnFatal = o.tell
	s := mustOpen(t, opts)
	var b job.Batch
	rng := rand.New(rand.NewPCG(6, 6))
	for id := range job.ID(2000) {
		b.PutTimer(id, job.Timer{Cursor: instant.Millis(rng.Int64()), Last: instant.Millis(rng.Int64())})
	}
	mustApply(t, s, 1, b.Bytes())
	mustClose(t, s)
	s = mustOpen(t, opts)
	damageTables(t, mem)
	err := s.Scan(nil, nil, func(_, _ []byte) (bool, error) { return true, nil })
	if err == nil || !strings.HasPrefix(err.Error(), "snapshot: scan: ") {
		t.Fatalf("damaged rows were read: %v", err)
	}
	within(t, "telling the owner", func() {
		if err := <-o.told; !errors.Is(err, ErrFailed) || !strings.Contains(err.Error(), ".sst: it is damaged: ") {
			t.Errorf("the owner was told %v", err)
		}
	})
	if err := s.Apply(position(2), timerBatch(1)); !errors.Is(err, ErrFailed) {
		t.Errorf("apply: %v", err)
	}
	if err := s.Close(); !errors.Is(err, ErrFailed) {
		t.Errorf("close: %v", err)
	}
}

// damageTables overwrites bytes in the middle of each table, where it has its rows.
func damageTables(t *testing.T, fs vfs.FS) {
	t.Helper()
	for name, content := range files(t, fs) {
		if !strings.HasSuffix(name, ".sst") {
			continue
		}
		f, err := fs.OpenReadWrite(fs.PathJoin(testDir, name), vfs.WriteCategoryUnspecified)
		if err != nil {
			t.Fatal(err)
		}
		_, err = f.WriteAt(bytes.Repeat([]byte{0xa5}, 40), int64(len(content)/2))
		if err := errors.Join(err, f.Close()); err != nil {
			t.Fatal(err)
		}
	}
}
