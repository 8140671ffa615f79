package core

import (
	"encoding/binary"
	"flag"
	"fmt"
	"runtime"
	"testing"
	"time"

	"github.com/carillon-io/carillon/instant"
	"github.com/carillon-io/carillon/job"
	"github.com/carillon-io/carillon/schedule"
)

var benchJobs = flag.Int("bench.jobs", 1_000_000, "how many jobs the store of BenchmarkLoad has")

// benchIDs are the ways in which the jobs of a store may be numbered: as an earlier release did, with slots, and the
// one half like this and the other like that.
var benchIDs = []struct {
	name  string
	dense func(jobs int) int // so many of the jobs have dense ids
}{
	{"dense", func(jobs int) int { return jobs }},
	{"slots", func(int) int { return 0 }},
	{"mixed", func(jobs int) int { return jobs / 2 }},
}

// benchStore is a store of any number of jobs with one schedule. It computes its rows. Names are in another
// order than ids.
type benchStore struct {
	ids     []job.ID
	numbers numbering
	timer   []byte
	profile []byte
	start   instant.Millis
}

func newBenchStore(jobs, dense int) *benchStore {
	s := &benchStore{
		ids: make([]job.ID, jobs), numbers: numbering{next: 1<<40 | 1}, start: instant.Of(time.Date(2026, 1, 5, 12, 0, 0, 0, time.UTC)),
	}
	for n := range s.ids {
		if n == dense {
			s.numbers.beginSlots()
		}
		s.ids[n] = s.numbers.take(job.Slot(n * 167))
	}
	def := oneShotOf("x")
	def.Schedule = "@every 1h"
	var b job.Batch
	b.PutTimer(1, job.Timer{Profile: 1, Version: 1, Cursor: s.start + 3_600_000})
	s.timer = firstValue(&b)
	b.Reset()
	b.PutProfile(1, job.ProfileOf(def, mustDo(schedule.Parse(def.Spec()))))
	s.profile = firstValue(&b)
	return s
}

// firstValue returns a copy of the value of the first row of a batch.
func firstValue(b *job.Batch) (value []byte) {
	_ = job.Changes(b.Bytes(), func(c job.Change) error {
		value = append(value, c.Value...)
		return nil
	})
	return value
}

// Scan implements [Scanner].
func (s *benchStore) Scan(low, _ []byte, fn func(key, value []byte) (bool, error)) error {
	var key []byte
	var err error
	switch job.Kind(low[0]) {
	case job.KindMeta:
		var b job.Batch
		if b.PutMeta(MetaNextID, uint64(s.numbers.next)); s.numbers.slotsFrom != 0 {
			b.PutSlotsFrom(s.numbers.slotsFrom)
		}
		return job.Changes(b.Bytes(), func(c job.Change) error {
			_, err := fn(c.Key, c.Value)
			return err
		})
	case job.KindProfile:
		_, err = fn(job.AppendProfileKey(nil, 1), s.profile)
	case job.KindTimer:
		for n := 0; n < len(s.ids) && err == nil; n++ {
			key = job.AppendJobKey(key[:0], job.KindTimer, s.ids[n])
			_, err = fn(key, s.timer)
		}
	case job.KindName:
		value := append([]byte{1}, make([]byte, 8)...)
		for n := 0; n < len(s.ids) && err == nil; n++ {
			key = fmt.Appendf(job.AppendNameKey(key[:0], "default", "job/"), "%08d", n)
			binary.BigEndian.PutUint64(value[1:], uint64(s.ids[n*7919%len(s.ids)]))
			_, err = fn(key, value)
		}
	}
	return err
}

// BenchmarkLoad is the time of a start without its store, for each job, and the memory that a job takes in a core that
// stands by, with its index.
func BenchmarkLoad(b *testing.B) {
	for _, ids := range benchIDs {
		b.Run(fmt.Sprintf("jobs=%d/ids=%s", *benchJobs, ids.name), func(b *testing.B) {
			s := newBenchStore(*benchJobs, ids.dense(*benchJobs))
			before := heapBytes()
			b.ResetTimer()
			var c *Core
			for range b.N {
				c = New(Settings{Lead: 10 * time.Second, Grace: time.Second}, s.start)
				if err := c.Load(s, testHasher{}); err != nil {
					b.Fatal(err)
				}
			}
			b.StopTimer()
			c.ids = newJobIndex(&c.rows, &c.numbers)
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N*len(s.ids)), "ns/job")
			b.ReportMetric(float64(heapBytes()-before)/float64(len(s.ids)), "B/job")
			runtime.KeepAlive(c)
			runtime.KeepAlive(s)
		})
	}
}

func heapBytes() int64 {
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return int64(m.HeapAlloc)
}
