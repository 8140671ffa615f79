package api

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/carillon-io/carillon/api/apitest"
	"github.com/carillon-io/carillon/job"
	"github.com/carillon-io/carillon/memory"
	"github.com/carillon-io/carillon/scheduler"
)

// slowLog is a log in memory whose commits take as long as those of a disk or of a stream.
type slowLog struct {
	memory.Log
	commit time.Duration
}

func (l *slowLog) Append(epoch uint64, batch []byte) (job.Position, error) {
	if l.commit > 0 {
		<-time.After(l.commit)
	}
	return l.Log.Append(epoch, batch)
}

// BenchmarkForwardedPut puts jobs one after the other over NATS: to the leader itself, through a router in its process,
// and through the router of another process. It reports medians. With commits of no time it shows the most that a router
// can add; a synced write, or the stream of a cluster, takes a millisecond or more.
func BenchmarkForwardedPut(b *testing.B) {
	for _, commit := range []time.Duration{0, time.Millisecond} {
		b.Run("commit="+commit.String(), func(b *testing.B) { benchmarkForwarded(b, commit) })
	}
}

func benchmarkForwarded(b *testing.B, commit time.Duration) {
	c := startShardsOn(b, 2, Options{ForwardKey: []byte("of the nodes")}, 0, func(t testing.TB) *scheduler.Engine {
		return startMixedOn(t, &slowLog{commit: commit})
	})
	// Only one router is subscribed to the subjects of callers.
	for _, r := range c.routers[1].shared {
		if err := r.sub.Unsubscribe(); err != nil {
			b.Fatal(err)
		}
	}
	if err := c.routers[1].nc.Flush(); err != nil {
		b.Fatal(err)
	}
	for _, x := range []struct {
		name, subject string
		shard         uint32
	}{
		{"way=direct", "carillon.shard.1.v1.default.jobs.put", 1},
		{"way=called", "carillon.v1.default.jobs.put", 0},
		{"way=forwarded", "carillon.v1.default.jobs.put", 1},
	} {
		b.Run(x.name, func(b *testing.B) {
			took := make([]time.Duration, 0, b.N)
			next := 0
			for b.Loop() {
				for ; job.ShardOf(job.SlotOf("default", fmt.Sprintf("customers/%06d/reminder", next)), 2) != x.shard; next++ {
				}
				body := []byte(apitest.SampleJob(next))
				next++
				began := time.Now()
				m, err := c.nc.Request(x.subject, body, time.Minute)
				took = append(took, time.Since(began))
				if err != nil || m.Header.Get("Nats-Service-Error-Code") != "" {
					b.Fatalf("%s, %v", m.Data, err)
				}
			}
			slices.Sort(took)
			b.ReportMetric(float64(took[len(took)/2].Microseconds()), "p50-us")
			b.ReportMetric(float64(took[len(took)*9/10].Microseconds()), "p90-us")
		})
	}
}
