package snapshot

import (
	"errors"
	"maps"
	"math/rand/v2"
	"path/filepath"
	"sync"
	"testing"

	"github.com/cockroachdb/pebble/v2/vfs"

	"github.com/carillon-io/carillon/job"
)

// TestCloseLosesNothing reopens a store on a real disk.
func TestCloseLosesNothing(t *testing.T) {
	opts := Options{Dir: filepath.Join(t.TempDir(), "new", "store")}
	rng := rand.New(rand.NewPCG(4, 4))
	var w twin
	for range 3 {
		s := mustOpen(t, opts)
		if s.Applied() != position(w.last()) || s.Durable() != s.Applied() {
			t.Fatalf("opened at %v with %v durable, want commit %d", s.Applied(), s.Durable(), w.last())
		}
		if !maps.Equal(contents(t, s), w.rows(w.last())) {
			t.Fatal("rows were lost")
		}
		for range 20 {
			w.add(t, s, randomBatch(rng))
		}
		mustClose(t, s)
		mustClose(t, s)
	}
}

func TestUseAfterClose(t *testing.T) {
	s := mustOpen(t, testOptions(vfs.NewMem()))
	mustApply(t, s, 1, timerBatch(1))
	mustClose(t, s)
	_, _, getErr := s.Get(timerKey(1))
	_, checkpointErr := s.Checkpoint(t.Context())
	for call, err := range map[string]error{
		"Apply":      s.Apply(position(2), timerBatch(2)),
		"Checkpoint": checkpointErr,
		"Get":        getErr,
		"Scan":       s.Scan(nil, nil, func(_, _ []byte) (bool, error) { return true, nil }),
	} {
		if !errors.Is(err, ErrClosed) {
			t.Errorf("%s: %v", call, err)
		}
	}
	if s.Applied() != position(1) || s.Metrics().Applied != 1 {
		t.Errorf("applied %v, metrics %+v", s.Applied(), s.Metrics())
	}
}

// TestCloseWaits: Pebble panics under a reader when it is closed.
func TestCloseWaits(t *testing.T) {
	s := mustOpen(t, testOptions(vfs.NewMem()))
	mustApply(t, s, 1, timerBatch(1))
	var readers sync.WaitGroup
	for range 4 {
		readers.Go(func() {
			for {
				if _, _, err := s.Get(timerKey(1)); errors.Is(err, ErrClosed) {
					return
				}
				_ = s.Scan(nil, nil, func(_, _ []byte) (bool, error) { return true, nil })
				_ = s.Metrics()
			}
		})
	}
	mustClose(t, s)
	readers.Wait()
}

func TestApplyRefuses(t *testing.T) {
	s := mustOpen(t, testOptions(vfs.NewMem()))
	defer mustClose(t, s)
	mustApply(t, s, 1, timerBatch(1))
	before := contents(t, s)
	for _, lsn := range []uint64{0, 1, 3, 9} {
		if err := s.Apply(position(lsn), timerBatch(2)); !errors.Is(err, ErrGap) {
			t.Errorf("LSN %d after 1: %v", lsn, err)
		}
	}
	if err := s.Apply(job.Position{LSN: 2}, timerBatch(2)); !errors.Is(err, ErrGap) {
		t.Errorf("a lower epoch: %v", err)
	}
	whole := append(timerBatch(2), timerBatch(3)[1:]...)
	second := len(timerBatch(2))
	for n := range whole {
		if n == 1 || n == second {
			continue // no changes, and one whole change
		}
		if err := s.Apply(position(2), whole[:n]); !errors.Is(err, ErrBatch) {
			t.Errorf("a batch cut at byte %d: %v", n, err)
		}
	}
	if err := s.Apply(position(2), make([]byte, BatchBytesMax+1)); !errors.Is(err, ErrBatch) {
		t.Errorf("a batch above the limit: %v", err)
	}
	if s.Applied() != position(1) || !maps.Equal(contents(t, s), before) {
		t.Error("a refused commit has changed something")
	}
	mustApply(t, s, 2, whole)
}

// TestReservedRows: the store's own row is nobody else's business.
func TestReservedRows(t *testing.T) {
	s := mustOpen(t, testOptions(vfs.NewMem()))
	defer mustClose(t, s)
	mustApply(t, s, 1, timerBatch(1))
	for _, key := range [][]byte{headKey, {0}, {}, nil} {
		if value, ok, err := s.Get(key); value != nil || ok || err != nil {
			t.Errorf("get %x: %x %t %v", key, value, ok, err)
		}
	}
	if rows := contents(t, s); len(rows) != 1 {
		t.Errorf("scanned %q", rows)
	}
	if err := s.Scan(nil, []byte{1}, func(key, _ []byte) (bool, error) { t.Errorf("saw %x", key); return true, nil }); err != nil {
		t.Error(err)
	}
	for _, batch := range [][]byte{{1, byte(job.OpPut), 1, 0, 0}, {1, byte(job.OpDeleteRange), 1, 0, 1, 2}} {
		if err := s.Apply(position(2), batch); !errors.Is(err, ErrBatch) {
			t.Errorf("a batch that touches a reserved row: %v", err)
		}
	}
}

func TestMetrics(t *testing.T) {
	s := mustOpen(t, testOptions(vfs.NewMem()))
	defer mustClose(t, s)
	if m := s.Metrics(); m.WriteAmplification != 0 || m.Applied != 0 || m.MemTables != 1 {
		t.Errorf("of a new store: %+v", m)
	}
	rng := rand.New(rand.NewPCG(9, 9))
	var w twin
	for range 100 {
		w.add(t, s, randomBatch(rng))
	}
	if _, err := s.Checkpoint(t.Context()); err != nil {
		t.Fatal(err)
	}
	m := s.Metrics()
	if m.Flushes == 0 || m.FlushedBytes == 0 || m.DiskBytes == 0 || m.MemTableBytes == 0 || m.Applied != 100 || m.Durable != 100 {
		t.Errorf("after a flush: %+v", m)
	}
	if m.WriteAmplification <= 0 || m.WriteAmplification > 100 {
		t.Errorf("write amplification %v", m.WriteAmplification)
	}
}
