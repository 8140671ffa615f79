package snapshot

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/cockroachdb/pebble/v2/vfs"

	"github.com/carillon-io/carillon/instant"
	"github.com/carillon-io/carillon/job"
)

// testMemTableBytes makes flushes, compactions and batches larger than half a memtable frequent.
const testMemTableBytes = MemTableBytesMin

const testDir = "/data/store"

// testOptions are those of a small store on a file system in memory.
func testOptions(fs vfs.FS) Options {
	return Options{Dir: testDir, MemTableBytes: testMemTableBytes, CacheBytes: 1 << 20, fs: fs}
}

func mustOpen(t testing.TB, opts Options) *Store {
	t.Helper()
	s, err := Open(opts)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func mustClose(t testing.TB, s *Store) {
	t.Helper()
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
}

func mustApply(t testing.TB, s *Store, lsn uint64, batch []byte) {
	t.Helper()
	if err := s.Apply(position(lsn), batch); err != nil {
		t.Fatal(err)
	}
}

// within fails the test if do does not return: that no call hangs is what is tested.
func within(t *testing.T, what string, do func()) {
	t.Helper()
	done := make(chan struct{})
	go func() {
		defer close(done)
		do()
	}()
	select {
	case <-done:
	case <-time.After(20 * time.Second):
		t.Fatalf("%s hangs", what)
	}
}

// position names commit lsn; the hash tells commits apart.
func position(lsn uint64) job.Position {
	if lsn == 0 {
		return job.Position{}
	}
	at := job.Position{LSN: lsn, Epoch: 1 + lsn/1000}
	at.Hash[0], at.Hash[15] = byte(lsn), byte(lsn>>8)
	return at
}

func timerKey(id job.ID) []byte { return job.AppendJobKey(nil, job.KindTimer, id) }

func timerBatch(id job.ID) []byte {
	var b job.Batch
	b.PutTimer(id, job.Timer{Version: 1})
	return b.Bytes()
}

// twin is the slow twin of a store: the log, and the map that comes of it.
type twin struct{ log [][]byte }

// rows returns what a store at commit lsn holds.
func (w *twin) rows(lsn uint64) map[string]string {
	rows := map[string]string{}
	for _, batch := range w.log[:lsn] {
		_ = job.Changes(batch, func(c job.Change) error {
			switch c.Op {
			case job.OpPut:
				rows[string(c.Key)] = string(c.Value)
			case job.OpDelete:
				delete(rows, string(c.Key))
			case job.OpDeleteRange:
				maps.DeleteFunc(rows, func(k, _ string) bool { return k >= string(c.Key) && k < string(c.Value) })
			}
			return nil
		})
	}
	return rows
}

// last returns the LSN of the newest commit.
func (w *twin) last() uint64 { return uint64(len(w.log)) }

// checkGoesOn checks that a store has what the twin had at the store's position, and that it goes on from there up to a
// commit.
func (w *twin) checkGoesOn(t *testing.T, s *Store, last uint64) {
	t.Helper()
	at := s.Applied().LSN
	if !maps.Equal(contents(t, s), w.rows(at)) {
		t.Fatalf("the store is not as it was after commit %d", at)
	}
	for lsn := at + 1; lsn <= last; lsn++ {
		mustApply(t, s, lsn, w.log[lsn-1])
	}
	if !maps.Equal(contents(t, s), w.rows(s.Applied().LSN)) {
		t.Fatalf("replay from commit %d does not give what was there", at)
	}
}

// add applies a new commit to the store and to the twin.
func (w *twin) add(t testing.TB, s *Store, batch []byte) {
	t.Helper()
	mustApply(t, s, w.last()+1, batch)
	w.log = append(w.log, batch)
}

// contents returns all rows of a store.
func contents(t testing.TB, s *Store) map[string]string {
	t.Helper()
	rows := map[string]string{}
	err := s.Scan(nil, nil, func(k, v []byte) (bool, error) {
		rows[string(k)] = string(v)
		return true, nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return rows
}

// randomBatch makes the changes that the engine makes: jobs come and go, timers move, runs pass
// through; now and then a large one, or days of history are dropped.
func randomBatch(rng *rand.Rand) []byte {
	var b job.Batch
	n := 1 + rng.IntN(30)
	if rng.IntN(40) == 0 {
		n = 400 // more than half a memtable, which takes another way through Pebble
	}
	for range n {
		randomChange(rng, &b)
	}
	return slices.Clone(b.Bytes())
}

func randomChange(rng *rand.Rand, b *job.Batch) {
	id := job.ID(rng.IntN(300))
	run := job.Run{ID: job.RunID{Job: id, At: instant.Millis(rng.IntN(5) * 86_400_000)}, Status: job.StatusSucceeded}
	switch rng.IntN(10) {
	case 0, 1, 2:
		b.PutTimer(id, job.Timer{Cursor: instant.Millis(rng.Int64N(1 << 40)), Version: rng.Uint32()})
	case 3:
		d := job.Defaults()
		d.Payload = make([]byte, rng.IntN(400))
		b.PutRecord(job.Stamp{ID: id, Version: 1}, job.EncodeDefinition(&d))
	case 4:
		b.PutName("default", fmt.Sprint("job/", id), id)
	case 5:
		b.DeleteJobRow(job.KindJob, id)
		b.DeleteJobRow(job.KindTimer, id)
		b.DeleteName("default", fmt.Sprint("job/", id))
	case 6:
		b.PutRun(&run)
	case 7:
		b.DeleteRun(run.ID)
		b.PutHistory(&run)
	case 8:
		b.PutMeta("next_id", rng.Uint64())
	case 9:
		if rng.IntN(15) == 0 {
			low, high := uint32(rng.IntN(5)), uint32(rng.IntN(5)) // upside down in two of five
			b.DeleteRange(job.AppendBucket(nil, job.KindHistory, low), job.AppendBucket(nil, job.KindHistory, high))
		}
	}
}
