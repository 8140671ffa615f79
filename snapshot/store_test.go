package snapshot

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/cockroachdb/pebble/v2"
	"github.com/cockroachdb/pebble/v2/vfs"
	"github.com/cockroachdb/pebble/v2/vfs/errorfs"

	"github.com/carillon-io/carillon/job"
)

func openDir(t *testing.T, dir string) *Store {
	t.Helper()
	s, err := Open(Options{Dir: dir})
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func timerBatch(id job.ID) []byte {
	var b job.Batch
	b.PutTimer(id, job.Timer{Version: 1})
	return b.Bytes()
}

func TestCloseAndReopenLosesNothing(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "store")
	s := openDir(t, dir)
	if err := s.Apply(position(1), timerBatch(7)); err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(s.Close(), s.Close()); err != nil {
		t.Fatal(err)
	}
	if err := s.Apply(position(2), timerBatch(8)); !errors.Is(err, ErrClosed) {
		t.Errorf("apply after close: %v", err)
	}
	s = openDir(t, dir)
	defer func() { _ = s.Close() }()
	value, ok, err := s.Get(job.AppendJobKey(nil, job.KindTimer, 7))
	if err != nil || !ok || s.Applied() != position(1) {
		t.Fatalf("%x %t %v at %s", value, ok, err, s.Applied())
	}
	if _, ok, err := s.Get(job.AppendJobKey(nil, job.KindTimer, 8)); ok || err != nil {
		t.Errorf("a row that was never applied: %t, %v", ok, err)
	}
}

func TestApplyRefuses(t *testing.T) {
	s := openDir(t, filepath.Join(t.TempDir(), "store"))
	defer func() { _ = s.Close() }()
	for _, lsn := range []uint64{0, 2, 9} {
		if err := s.Apply(position(lsn), timerBatch(1)); !errors.Is(err, ErrGap) {
			t.Errorf("LSN %d first: %v", lsn, err)
		}
	}
	whole := timerBatch(1)
	for n := range whole {
		if n > 1 && s.Apply(position(1), whole[:n]) == nil {
			t.Fatalf("a batch cut at byte %d was applied", n)
		}
	}
	if s.Applied() != (job.Position{}) || len(contents(t, s)) != 0 {
		t.Error("a refused commit left something")
	}
}

func TestOpenRefuses(t *testing.T) {
	t.Run("in use", func(t *testing.T) {
		dir := filepath.Join(t.TempDir(), "store")
		s := openDir(t, dir)
		defer func() { _ = s.Close() }()
		if _, err := Open(Options{Dir: dir}); !errors.Is(err, ErrInUse) {
			t.Error(err)
		}
	})
	t.Run("foreign files", func(t *testing.T) {
		dir := t.TempDir()
		if err := os.WriteFile(filepath.Join(dir, "notes.txt"), []byte("x"), 0o600); err != nil {
			t.Fatal(err)
		}
		if _, err := Open(Options{Dir: dir}); !errors.Is(err, ErrForeign) || !strings.Contains(err.Error(), "notes.txt") {
			t.Error(err)
		}
	})
	t.Run("another program's pebble", func(t *testing.T) {
		dir := t.TempDir()
		db, err := pebble.Open(dir, &pebble.Options{FormatMajorVersion: formatVersion})
		if err != nil {
			t.Fatal(err)
		}
		if err := errors.Join(db.Set([]byte("k"), []byte("v"), pebble.Sync), db.Close()); err != nil {
			t.Fatal(err)
		}
		if _, err := Open(Options{Dir: dir}); !errors.Is(err, ErrForeign) {
			t.Error(err)
		}
	})
	t.Run("newer head row", func(t *testing.T) {
		dir := filepath.Join(t.TempDir(), "store")
		s := openDir(t, dir)
		if err := s.db.Set(headKey, []byte{headVersion + 1, 0}, pebble.NoSync); err != nil {
			t.Fatal(err)
		}
		_ = s.Close()
		if _, err := Open(Options{Dir: dir}); !errors.Is(err, ErrVersion) {
			t.Error(err)
		}
	})
	t.Run("damaged head row", func(t *testing.T) {
		b := encodeHead(position(3))
		for i := 1; i < len(b); i++ {
			b[i] ^= 1
			if _, err := decodeHead(b); err == nil {
				t.Errorf("byte %d flipped, and it was read", i)
			}
			b[i] ^= 1
		}
	})
	t.Run("options", func(t *testing.T) {
		for _, o := range []Options{{}, {Dir: "x", CacheBytes: -1}, {Dir: "x", MemTableBytes: 1}} {
			if _, err := Open(o); err == nil {
				t.Errorf("%+v was taken", o)
			}
		}
	})
}

// TestFullDiskStopsTheStore: Pebble would retry a failed flush for ever; the store tells its owner once
// and accepts nothing more. The same with a manifest that cannot be synced, where Pebble would end
// the process.
func TestFailuresStopTheStore(t *testing.T) {
	for name, pattern := range map[string]string{"tables": "*.sst", "manifest": "MANIFEST-*"} {
		t.Run(name, func(t *testing.T) {
			var armed atomic.Bool
			inject := errorfs.InjectorFunc(func(op errorfs.Op) error {
				match, _ := filepath.Match(pattern, filepath.Base(op.Path))
				if armed.Load() && match && op.Kind.ReadOrWrite() == errorfs.OpIsWrite {
					return errorfs.ErrInjected
				}
				return nil
			})
			told := make(chan error, 10)
			s, err := Open(Options{
				Dir: "store", MemTableBytes: 64 << 10, fs: errorfs.Wrap(vfs.NewMem(), inject),
				OnFatal: func(err error) { told <- err },
			})
			if err != nil {
				t.Fatal(err)
			}
			if err := s.Apply(position(1), timerBatch(1)); err != nil {
				t.Fatal(err)
			}
			armed.Store(true)
			if _, err := s.Checkpoint(t.Context()); !errors.Is(err, ErrFailed) {
				t.Errorf("checkpoint: %v", err)
			}
			select {
			case err := <-told:
				if !errors.Is(err, ErrFailed) {
					t.Error(err)
				}
			case <-time.After(10 * time.Second):
				t.Fatal("nobody was told")
			}
			if err := s.Apply(position(2), timerBatch(2)); !errors.Is(err, ErrFailed) {
				t.Errorf("apply after the failure: %v", err)
			}
			if err := s.Close(); !errors.Is(err, ErrFailed) {
				t.Errorf("close after the failure: %v", err)
			}
			if len(told) != 0 {
				t.Error("the owner was told more than once")
			}
		})
	}
}

func BenchmarkApply(b *testing.B) {
	s, err := Open(Options{Dir: filepath.Join(b.TempDir(), "store")})
	if err != nil {
		b.Fatal(err)
	}
	defer func() { _ = s.Close() }()
	def := job.Defaults()
	def.Tenant, def.Name, def.Schedule, def.Payload = "default", "customer/1234567/reminder", "@every 1h", make([]byte, 100)
	row := job.EncodeDefinition(&def)
	const jobs = 1000
	id := job.ID(0)
	for lsn := uint64(1); b.Loop(); lsn++ {
		var batch job.Batch
		for range jobs {
			id++
			batch.PutRecord(job.Record{ID: id, Version: 1}, row)
			batch.PutName("default", def.Name+id.String(), id)
			batch.PutTimer(id, job.Timer{Version: 1})
		}
		if err := s.Apply(job.Position{LSN: lsn}, batch.Bytes()); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportMetric(float64(b.N)*jobs/b.Elapsed().Seconds(), "jobs/s")
}
