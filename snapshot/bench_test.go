package snapshot

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"testing"

	"github.com/carillon-io/carillon/instant"
	"github.com/carillon-io/carillon/job"
)

// benchJobs is how many jobs one commit brings; each has a record of about 300 bytes, a timer of about
// 24, and a name.
const benchJobs = 1000

// jobLoader makes commits of new jobs with rising ids.
type jobLoader struct {
	store   *Store
	batch   job.Batch
	record  []byte
	payload []byte // in record
	noise   *rand.ChaCha8
	next    job.ID
}

func newJobLoader(s *Store) *jobLoader {
	d := job.Defaults()
	d.Tenant, d.Name, d.Schedule = "default", "customer/1234567/reminder", "30 8 * * 1-5"
	d.Target = job.Target{Kind: job.TargetHTTP, URL: "https://hooks.example.com/customers/reminder", Method: "POST"}
	d.Payload = bytes.Repeat([]byte("p"), 120)
	record := job.EncodeDefinition(&d)
	start := bytes.Index(record, d.Payload)
	return &jobLoader{
		store: s, record: record, payload: record[start : start+len(d.Payload)/2], // the rest compresses
		noise: rand.NewChaCha8([32]byte{1}), next: 1,
	}
}

func (l *jobLoader) load(b *testing.B) {
	b.Helper()
	l.batch.Reset()
	for range benchJobs {
		id := l.next
		_, _ = l.noise.Read(l.payload)
		at := instant.Millis(1764547200000 + int64(id))
		l.batch.PutRecord(job.Stamp{ID: id, Version: 1, CreatedAt: at, UpdatedAt: at}, l.record)
		l.batch.PutName("default", fmt.Sprintf("customer/%08d/reminder", id), id)
		l.batch.PutTimer(id, job.Timer{Profile: uint32(id % 300), Cursor: at.Add(1 << 30), Last: at, Version: 1, Runs: 1})
		l.next++
	}
	if err := l.store.Apply(job.Position{LSN: l.store.Applied().LSN + 1}, l.batch.Bytes()); err != nil {
		b.Fatal(err)
	}
}

func openBench(b *testing.B) *Store {
	b.Helper()
	s := mustOpen(b, Options{Dir: filepath.Join(b.TempDir(), "store")})
	b.Cleanup(func() { mustClose(b, s) })
	return s
}

// BenchmarkApply measures commits of new jobs, flushes and compactions beside them.
func BenchmarkApply(b *testing.B) {
	b.Run(fmt.Sprintf("jobs=%d", benchJobs), func(b *testing.B) {
		s := openBench(b)
		l := newJobLoader(s)
		b.ReportAllocs()
		for b.Loop() {
			l.load(b)
		}
		m := s.Metrics()
		b.ReportMetric(float64(b.N*benchJobs)/b.Elapsed().Seconds(), "jobs/s")
		b.ReportMetric(m.WriteAmplification, "write-amp")
		b.ReportMetric(float64(m.Stalls), "stalls")
	})
	b.Run("rows=1", func(b *testing.B) {
		s := openBench(b)
		var batch job.Batch
		b.ReportAllocs()
		for lsn := uint64(1); b.Loop(); lsn++ {
			batch.Reset()
			batch.PutTimer(job.ID(lsn), job.Timer{Version: 1})
			if err := s.Apply(job.Position{LSN: lsn}, batch.Bytes()); err != nil {
				b.Fatal(err)
			}
		}
	})
}

// BenchmarkRead measures a whole scan of the timers, as at a start, and reads of jobs at random.
func BenchmarkRead(b *testing.B) {
	for _, jobs := range []int{100_000, 1_000_000} {
		s := openBench(b)
		l := newJobLoader(s)
		for range jobs / benchJobs {
			l.load(b)
		}
		if _, err := s.Checkpoint(b.Context()); err != nil {
			b.Fatal(err)
		}
		b.Run(fmt.Sprintf("scan/timers=%d", jobs), func(b *testing.B) { scanTimers(b, s, jobs) })
		b.Run(fmt.Sprintf("get/jobs=%d", jobs), func(b *testing.B) { getJobs(b, s, jobs) })
	}
}

func scanTimers(b *testing.B, s *Store, want int) {
	low := []byte{byte(job.KindTimer)}
	b.ReportAllocs()
	for b.Loop() {
		rows := 0
		err := s.Scan(low, job.PrefixEnd(low), func(_, value []byte) (bool, error) {
			rows++
			return len(value) > 0, nil
		})
		if err != nil || rows != want {
			b.Fatalf("%d rows of %d, %v", rows, want, err)
		}
	}
	b.ReportMetric(float64(b.N*want)/b.Elapsed().Seconds(), "rows/s")
}

func getJobs(b *testing.B, s *Store, jobs int) {
	rng := rand.New(rand.NewPCG(2, 2))
	var key []byte
	b.ReportAllocs()
	for b.Loop() {
		key = job.AppendJobKey(key[:0], job.KindJob, job.ID(1+rng.IntN(jobs)))
		if _, ok, err := s.Get(key); err != nil || !ok {
			b.Fatal(ok, err)
		}
	}
}

// BenchmarkCheckpoint measures a checkpoint after one commit, and one with nothing to do.
func BenchmarkCheckpoint(b *testing.B) {
	for _, jobs := range []int{0, benchJobs} {
		b.Run(fmt.Sprintf("jobs=%d", jobs), func(b *testing.B) {
			s := openBench(b)
			l := newJobLoader(s)
			for b.Loop() {
				if jobs > 0 {
					l.load(b)
				}
				if _, err := s.Checkpoint(b.Context()); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

// BenchmarkExport measures a copy of an idle store, on the file system of the store.
func BenchmarkExport(b *testing.B) {
	for _, rows := range []int{30_000, 1_000_000} {
		s := openBench(b)
		l := newJobLoader(s)
		for range (rows + 3*benchJobs - 1) / (3 * benchJobs) {
			l.load(b)
		}
		if _, err := s.Checkpoint(b.Context()); err != nil {
			b.Fatal(err)
		}
		b.Run(fmt.Sprintf("rows=%d", rows), func(b *testing.B) {
			dir := filepath.Join(b.TempDir(), "copy")
			for b.Loop() {
				mustExport(b, s, dir)
				b.StopTimer()
				if err := os.RemoveAll(dir); err != nil {
					b.Fatal(err)
				}
				b.StartTimer()
			}
		})
	}
}
