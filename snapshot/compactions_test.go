package snapshot

import (
	"fmt"
	"log/slog"
	"math/rand/v2"
	"path/filepath"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/cockroachdb/pebble/v2"
	"github.com/cockroachdb/pebble/v2/vfs"

	"github.com/carillon-io/carillon/job"
	"github.com/carillon-io/carillon/testkit"
)

// watched is the scheduler of a store between it and a real Pebble: it counts the looks, and can keep Pebble from allowing
// a compaction.
type watched struct {
	compactions
	pebble.DBForCompaction
	looks   atomic.Int64
	refused atomic.Int64
	allowed atomic.Int64 // more than Pebble allows counts for nothing
}

func (w *watched) Register(n int, db pebble.DBForCompaction) {
	w.DBForCompaction = db
	w.compactions.Register(n, w)
}

func (w *watched) GetAllowedWithoutPermission() int {
	w.looks.Add(1)
	return min(w.DBForCompaction.GetAllowedWithoutPermission(), int(w.allowed.Load()))
}

func (w *watched) TrySchedule() (bool, pebble.CompactionGrantHandle) {
	ok, h := w.compactions.TrySchedule()
	if !ok {
		w.refused.Add(1)
	}
	return ok, h
}

// openWatched opens Pebble with the options of a store on a file system in memory.
func openWatched(t *testing.T, allowed int64) (*pebble.DB, *watched) {
	t.Helper()
	o := testOptions(vfs.NewMem()).withDefaults()
	s := &Store{dir: o.Dir, fs: o.fs, fault: newFault(slog.New(slog.DiscardHandler))}
	s.exports = &exports{fault: s.fault}
	w := new(watched)
	w.allowed.Store(allowed)
	p := s.pebbleOptions(o)
	p.Lock, p.L0CompactionThreshold = nil, 2
	p.Experimental.CompactionScheduler = w
	if err := o.fs.MkdirAll(o.Dir, 0o755); err != nil {
		t.Fatal(err)
	}
	db, err := pebble.Open(o.Dir, p)
	if err != nil {
		t.Fatal(err)
	}
	return db, w
}

// flushTables flushes tables that overlap, so that Pebble picks a compaction.
func flushTables(t *testing.T, db *pebble.DB, n int) {
	t.Helper()
	for i := range n {
		for key := range 10 {
			if err := db.Set(fmt.Appendf(nil, "key %d", key), fmt.Appendf(nil, "%d", i), pebble.NoSync); err != nil {
				t.Fatal(err)
			}
		}
		if err := db.Flush(); err != nil {
			t.Fatal(err)
		}
	}
}

// TestNoLookWithoutWaiting: compactions run at once when Pebble allows them, and a store in which none waits does not look
// once in an hour.
func TestNoLookWithoutWaiting(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		db, w := openWatched(t, 8)
		flushTables(t, db, 20)
		synctest.Wait()
		if n := db.Metrics().Compact.Count; n == 0 {
			t.Error("no compaction ran")
		}
		testkit.Pass(time.Second) // a compaction may have been refused beside another one
		before := w.looks.Load()
		testkit.Pass(time.Hour)
		if n := w.looks.Load() - before; n != 0 {
			t.Errorf("%d looks in an idle hour", n)
		}
		if w.timer.Stop() {
			t.Error("the timer runs, and nothing waits")
		}
		if err := db.Close(); err != nil {
			t.Error(err)
		}
	})
}

// TestWaitingCompactionIsFound: a compaction that Pebble did not allow runs within grantEvery after it does, although Pebble
// reports that to no one. Later ones run as well.
func TestWaitingCompactionIsFound(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		db, w := openWatched(t, 0)
		flushTables(t, db, 8)
		testkit.Pass(time.Minute)
		if n := db.Metrics().Compact.Count; n != 0 || w.refused.Load() == 0 {
			t.Fatalf("%d compactions ran that were not allowed; %d were refused", n, w.refused.Load())
		}
		w.allowed.Store(1)
		testkit.Pass(grantEvery)
		first := db.Metrics().Compact.Count
		if first == 0 {
			t.Errorf("no compaction ran %s after it was allowed", grantEvery)
		}
		flushTables(t, db, 8)
		synctest.Wait()
		if n := db.Metrics().Compact.Count; n == first {
			t.Error("after the compaction that waited no other one ran")
		}
		if err := db.Close(); err != nil {
			t.Error(err)
		}
	})
}

// TestFlushGrants: Pebble calls after a flush, and the compaction that waits begins without the timer.
func TestFlushGrants(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		db, w := openWatched(t, 0)
		flushTables(t, db, 8)
		w.allowed.Store(1)
		w.UpdateGetAllowedWithoutPermission()
		synctest.Wait()
		if n := db.Metrics().Compact.Count; n == 0 {
			t.Error("no compaction ran, and no time has passed")
		}
		if err := db.Close(); err != nil {
			t.Error(err)
		}
	})
}

// TestCloseWhileWaiting: a compaction that waits holds up no Close, and Pebble is not called after it.
func TestCloseWhileWaiting(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		db, w := openWatched(t, 0)
		flushTables(t, db, 8)
		if !w.waiting {
			t.Fatal("no compaction waits")
		}
		if err := db.Close(); err != nil {
			t.Error(err)
		}
		before := w.looks.Load()
		w.allowed.Store(8)
		w.UpdateGetAllowedWithoutPermission()
		w.grant()
		testkit.Pass(time.Hour)
		if n := w.looks.Load() - before; n != 0 {
			t.Errorf("%d calls of Pebble after Close", n)
		}
	})
}

// TestRegisterBesideAGrant: the timer may fire while the store is opened, if the machine stands still for long enough. A grant
// never sees a scheduler that is made in part.
func TestRegisterBesideAGrant(t *testing.T) {
	var c compactions
	c.mu.Lock() // as a grant has it
	registered := make(chan struct{})
	go func() {
		c.Register(1, nil)
		close(registered)
	}()
	select {
	case <-registered:
		t.Error("it was registered during a grant")
	case <-time.After(20 * time.Millisecond):
	}
	c.mu.Unlock()
	<-registered
	c.grant()
	c.Unregister()
}

// TestCompactionsOfManyStores: many stores that are written at the same time compact, while Pebble allows now more and now
// fewer; none is left with a compaction that waits, and each has its rows.
func TestCompactionsOfManyStores(t *testing.T) {
	const stores, commits = 8, 60
	dir, seed := t.TempDir(), uint64(time.Now().UnixNano())
	t.Logf("seed %d", seed)
	m := NewMemory(16<<20, 0)
	defer m.Close()
	all, done := make([]*Store, stores), make(chan error, stores)
	for i := range all {
		all[i] = mustOpen(t, Options{Dir: filepath.Join(dir, fmt.Sprint(i)), Memory: m, MemTableBytes: MemTableBytesMin})
		go func() { done <- applyMuch(all[i], rand.New(rand.NewPCG(seed, uint64(i))), commits) }()
	}
	for range all {
		if err := <-done; err != nil {
			t.Error(err)
		}
	}
	for i, s := range all {
		testkit.Until(t, fmt.Sprintf("store %d is compacted", i), func() bool {
			m := s.Metrics()
			return m.Compactions > 0 && m.L0Sublevels < 20
		})
		if n := len(contents(t, s)); n != commits*rowsOfCommit {
			t.Errorf("store %d has %d rows; want %d", i, n, commits*rowsOfCommit)
		}
		mustClose(t, s)
	}
}

const rowsOfCommit = 400

// applyMuch applies commits of rows that are spread over all keys, so that their tables overlap.
func applyMuch(s *Store, random *rand.Rand, commits int) error {
	for lsn := range uint64(commits) {
		var b job.Batch
		for n := range uint64(rowsOfCommit) {
			b.PutTimer(job.ID(n*1_000_000+lsn+1), job.Timer{Version: random.Uint32()})
		}
		if err := s.Apply(position(lsn+1), b.Bytes()); err != nil {
			return err
		}
	}
	return nil
}
