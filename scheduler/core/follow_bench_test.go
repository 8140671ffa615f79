package core

import (
	"fmt"
	"testing"
	"time"

	"github.com/carillon-io/carillon/instant"
	"github.com/carillon-io/carillon/job"
	"github.com/carillon-io/carillon/schedule"
)

// followedJobs is how many jobs a standby of the benchmarks has.
const followedJobs = 1_000_000

// newFollowed returns a core that followed the registration of many jobs, so many of them with dense ids, and its time.
func newFollowed(tb testing.TB, jobs, dense int) (*Core, []job.ID, instant.Millis) {
	now := instant.Of(time.Date(2026, 1, 5, 12, 0, 0, 0, time.UTC))
	c := New(Settings{Lead: 10 * time.Second, Grace: time.Second}, now)
	c.useHasher(testHasher{})
	def := oneShotOf("x")
	def.Schedule = "@every 1h"
	profile := job.ProfileOf(def, mustDo(schedule.Parse(def.Spec())))
	var b job.Batch
	b.PutProfile(1, profile)
	ids, numbers := make([]job.ID, jobs), numbering{next: 1 << 20}
	for i := range jobs {
		if i == dense {
			numbers.beginSlots()
			b.PutSlotsFrom(numbers.slotsFrom)
		}
		id := numbers.take(job.Slot(i * 167))
		ids[i] = id
		b.PutTimer(id, followedTimer(now, i, 0))
		b.PutName("default", fmt.Sprint("job/", i), id)
		if b.Size() > CommitBytesMax/2 || i == jobs-1 {
			if err := c.Follow(b.Bytes(), now); err != nil {
				tb.Fatal(err)
			}
			b.Reset()
		}
	}
	return c, ids, now
}

// followedTimer is the timer of a job after so many ticks: each job has one an hour.
func followedTimer(start instant.Millis, i, ticks int) job.Timer {
	offset := instant.Millis(i%3_600_000) + 10_000
	return job.Timer{Profile: 1, Version: 1, Runs: uint32(ticks), Cursor: start + offset + instant.Millis(ticks)*3_600_000}
}

// BenchmarkFollow is the cost of one row to a standby with a million jobs, without its store: of those that
// a tick leaves behind (the run, the timer, the run's end and its history), and of those it does not keep
// in memory.
func BenchmarkFollow(b *testing.B) {
	for _, ids := range benchIDs {
		b.Run("ids="+ids.name, func(b *testing.B) { benchmarkFollow(b, ids.dense(followedJobs)) })
	}
}

func benchmarkFollow(b *testing.B, dense int) {
	const perBatch = 500
	c, ids, start := newFollowed(b, followedJobs, dense)
	fill := map[string]func(batch *job.Batch, i, round int){
		"rows=ticks": func(batch *job.Batch, i, round int) {
			t := followedTimer(start, i, round+1)
			run := job.Run{ID: job.RunID{Job: ids[i], At: t.Cursor - 3_600_000}, Status: job.StatusPending, Attempt: 1, Fence: 7, Due: t.Cursor - 3_600_000}
			batch.PutRun(&run)
			batch.PutTimer(run.ID.Job, t)
			batch.DeleteRun(run.ID)
			run.Status = job.StatusSucceeded
			batch.PutHistory(&run)
		},
		"rows=cold": func(batch *job.Batch, i, round int) {
			run := job.Run{ID: job.RunID{Job: ids[i], At: start + instant.Millis(round)}, Status: job.StatusSucceeded, Attempt: 1}
			for range 4 {
				batch.PutHistory(&run)
			}
		},
	}
	for name, row := range fill {
		b.Run(name, func(b *testing.B) {
			var batch job.Batch
			b.ReportAllocs()
			for n := 0; n < b.N; {
				b.StopTimer()
				batch.Reset()
				round := n / 4 / followedJobs
				for range perBatch {
					row(&batch, n/4%followedJobs, round)
					n += 4
				}
				now := start + instant.Millis(round)*3_600_000 + instant.Millis(n/4%followedJobs)
				b.StartTimer()
				if err := c.Follow(batch.Bytes(), now); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

// BenchmarkLead is the cost of a promotion, without its commit: it follows the runs that are live, not
// the jobs.
func BenchmarkLead(b *testing.B) {
	for _, live := range []int{0, 10_000} {
		b.Run(fmt.Sprintf("jobs=%d/live=%d", followedJobs, live), func(b *testing.B) {
			c, ids, now := newFollowed(b, followedJobs, 0)
			var batch job.Batch
			for i := range live {
				batch.PutRun(&job.Run{ID: job.RunID{Job: ids[i], At: now}, Status: job.StatusPending, Attempt: 1, Due: now + 5000})
			}
			if err := c.Follow(batch.Bytes(), now); err != nil {
				b.Fatal(err)
			}
			index := c.ids
			b.ResetTimer()
			for range b.N {
				c.ids = index
				if t := c.lead(1, 1, now); len(t.Launches) != live {
					b.Fatalf("%d launches", len(t.Launches))
				}
			}
		})
	}
}
