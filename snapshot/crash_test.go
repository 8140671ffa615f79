package snapshot

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/cockroachdb/pebble/v2/vfs"

	"github.com/carillon-io/carillon/job"
)

var (
	seedFlag    = flag.Uint64("store.seed", 0, "run the crash test with this seed")
	storesCount = flag.Int("store.runs", 3, "how many stores the crash test makes")
)

// model is the slow twin of a store: a map, with a copy for every commit.
type model struct {
	rows   map[string]string
	states []map[string]string // after commit i
	logged [][]byte            // batch of commit i+1
}

func newModel() *model {
	return &model{rows: map[string]string{}, states: []map[string]string{{}}}
}

func (m *model) apply(batch []byte) {
	_ = job.Changes(batch, func(c job.Change) error {
		switch c.Op {
		case job.OpPut:
			m.rows[string(c.Key)] = string(c.Value)
		case job.OpDelete:
			delete(m.rows, string(c.Key))
		case job.OpDeleteRange:
			maps.DeleteFunc(m.rows, func(k, _ string) bool { return k >= string(c.Key) && k < string(c.Value) })
		}
		return nil
	})
	m.states = append(m.states, maps.Clone(m.rows))
	m.logged = append(m.logged, slices.Clone(batch))
}

// randomBatch makes the changes that the engine makes: jobs come and go, timers move, runs pass
// through; now and then a large one, or a day of history is dropped.
func randomBatch(rng *rand.Rand) []byte {
	var b job.Batch
	n := 1 + rng.IntN(30)
	if rng.IntN(40) == 0 {
		n = 400 // larger than half a memtable: takes another way through Pebble
	}
	for range n {
		id := job.ID(rng.IntN(300))
		run := job.Run{ID: job.RunID{Job: id, At: job.Millis(rng.IntN(5) * 86_400_000)}, Status: job.StatusSucceeded}
		switch rng.IntN(9) {
		case 0, 1, 2:
			b.PutTimer(id, job.Timer{Cursor: job.Millis(rng.Int64N(1 << 40)), Version: rng.Uint32()})
		case 3:
			b.PutNote(id, job.Note{Reason: string(make([]byte, rng.IntN(400)))})
		case 4:
			b.PutName("default", fmt.Sprint("job/", id), id)
		case 5:
			b.DeleteJobRow(job.KindNote, id)
		case 6:
			b.PutRun(&run)
		case 7:
			b.DeleteRun(run.ID)
			b.PutHistory(&run)
		case 8:
			if rng.IntN(20) == 0 {
				day := uint32(rng.IntN(5))
				b.DeleteRange(job.AppendBucket(nil, job.KindHistory, day), job.AppendBucket(nil, job.KindHistory, day+1))
			}
		}
	}
	return slices.Clone(b.Bytes())
}

// position names commit lsn; the hash tells commits apart.
func position(lsn uint64) job.Position {
	at := job.Position{LSN: lsn, Epoch: 1 + lsn/1000}
	at.Hash[0], at.Hash[1] = byte(lsn), byte(lsn>>8)
	return at
}

func contents(t *testing.T, s *Store) map[string]string {
	t.Helper()
	rows := map[string]string{}
	err := s.Scan([]byte{1}, nil, func(k, v []byte) (bool, error) { rows[string(k)] = string(v); return true, nil })
	if err != nil {
		t.Fatal(err)
	}
	return rows
}

// TestCrashLeavesAPrefix: whatever a crash at any moment leaves is the state after a whole commit, the
// store says after which, it is never before the last checkpoint, and replaying the rest of the log
// gives what was there.
func TestCrashLeavesAPrefix(t *testing.T) {
	for i := range *storesCount {
		seed := *seedFlag
		if seed == 0 {
			seed = rand.Uint64()
		}
		if !t.Run(fmt.Sprint(i), func(t *testing.T) { crashStore(t, seed) }) {
			t.Fatalf("repeat with: go test ./snapshot -run TestCrashLeavesAPrefix -store.seed %d -store.runs 1", seed)
		}
	}
}

func crashStore(t *testing.T, seed uint64) {
	rng := rand.New(rand.NewPCG(seed, 3))
	mem := vfs.NewCrashableMem()
	s := openMem(t, mem)
	m := newModel()
	var durable job.Position
	for lsn := uint64(1); lsn <= 700; lsn++ {
		batch := randomBatch(rng)
		if err := s.Apply(position(lsn), batch); err != nil {
			t.Fatal(err)
		}
		m.apply(batch)
		if rng.IntN(60) == 0 {
			at, err := s.Checkpoint(context.Background())
			if err != nil || at.LSN < durable.LSN {
				t.Fatalf("checkpoint at %s after %s: %v", at, durable, err)
			}
			durable = at
		}
		if rng.IntN(25) == 0 {
			clone := mem.CrashClone(vfs.CrashCloneCfg{UnsyncedDataPercent: rng.IntN(3) * 50, RNG: rng})
			checkClone(t, clone, m, durable)
		}
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	checkClone(t, mem.CrashClone(vfs.CrashCloneCfg{}), m, position(700))
}

func checkClone(t *testing.T, fs vfs.FS, m *model, durable job.Position) {
	t.Helper()
	s := openMem(t, fs)
	at := s.Applied()
	if at.LSN < durable.LSN || at.LSN >= uint64(len(m.states)) {
		t.Fatalf("a crash left %s; durable was %s", at, durable)
	}
	if at.LSN > 0 && at != position(at.LSN) {
		t.Fatalf("the head row says %s", at)
	}
	if !maps.Equal(contents(t, s), m.states[at.LSN]) {
		t.Fatalf("the store is not as it was after commit %d", at.LSN)
	}
	for lsn := at.LSN + 1; lsn < uint64(len(m.states)); lsn++ {
		if err := s.Apply(position(lsn), m.logged[lsn-1]); err != nil {
			t.Fatal(err)
		}
	}
	if !maps.Equal(contents(t, s), m.rows) {
		t.Fatal("replay does not give what was there")
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
}

func openMem(t *testing.T, fs vfs.FS) *Store {
	t.Helper()
	s, err := Open(Options{Dir: "store", MemTableBytes: 64 << 10, CacheBytes: 1 << 20, fs: fs})
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// TestCheckpointIsDurable: right after a checkpoint, a crash that keeps nothing unsynced leaves all of
// it; and a checkpoint with nothing new writes nothing.
func TestCheckpointIsDurable(t *testing.T) {
	mem := vfs.NewCrashableMem()
	s := openMem(t, mem)
	rng := rand.New(rand.NewPCG(1, 1))
	for lsn := uint64(1); lsn <= 20; lsn++ {
		if err := s.Apply(position(lsn), randomBatch(rng)); err != nil {
			t.Fatal(err)
		}
		at, err := s.Checkpoint(context.Background())
		if err != nil || at.LSN != lsn {
			t.Fatalf("checkpoint: %s, %v", at, err)
		}
		flushes := s.Metrics().Flushes
		if again, err := s.Checkpoint(context.Background()); err != nil || again != at || s.Metrics().Flushes != flushes {
			t.Fatalf("a second checkpoint: %s, %v, %d flushes after %d", again, err, s.Metrics().Flushes, flushes)
		}
		left := openMem(t, mem.CrashClone(vfs.CrashCloneCfg{}))
		if left.Applied() != at {
			t.Fatalf("a crash left %s, want %s", left.Applied(), at)
		}
		if err := left.Close(); err != nil {
			t.Fatal(err)
		}
	}
	if err := s.Close(); err != nil && !errors.Is(err, ErrClosed) {
		t.Fatal(err)
	}
}
