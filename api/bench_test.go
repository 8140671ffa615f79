package api

import (
	"fmt"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/carillon-io/carillon/api/apitest"
	"github.com/carillon-io/carillon/job"
)

func sampleBulk(n int) []byte {
	jobs := make([]string, n)
	for i := range jobs {
		jobs[i] = apitest.SampleJob(i)
	}
	return []byte(`{"jobs":[` + strings.Join(jobs, ",") + `]}`)
}

// BenchmarkReadBulk reads and checks a bulk registration; it reports jobs per second.
func BenchmarkReadBulk(b *testing.B) {
	for _, n := range []int{1, 2000} {
		body := sampleBulk(n)
		b.Run(fmt.Sprintf("jobs=%d", n), func(b *testing.B) {
			b.ReportAllocs()
			b.SetBytes(int64(len(body)))
			for b.Loop() {
				req := bulkRequest{tenant: "default", rules: job.Rules{Prefix: "carillon"}, most: n, prepare: prepareNothing}
				if err := readBulk(body, &req); err != nil || req.items[0].Err != nil {
					b.Fatal(err, req.items[0].Err)
				}
			}
			b.ReportMetric(float64(n)*float64(b.N)/b.Elapsed().Seconds(), "jobs/s")
		})
	}
}

// BenchmarkRequests sends requests over NATS to an engine in memory, many at a time.
func BenchmarkRequests(b *testing.B) {
	_, url := startService(b, apitest.StartEngine(b), Options{}, 4<<20)
	nc := apitest.Connect(b, url)
	for _, x := range []struct {
		name, verb string
		body       func(i int64) []byte
		jobs       int
	}{
		{"verb=status", "status", func(int64) []byte { return nil }, 0},
		{"verb=jobs.put", "jobs.put", func(i int64) []byte { return []byte(apitest.SampleJob(int(i))) }, 1},
		{"verb=jobs.get", "jobs.get", func(i int64) []byte { return []byte(`{"name":"customers/000001/reminder"}`) }, 0},
		{"verb=jobs.put_many/jobs=2000", "jobs.put_many", func(int64) []byte { return sampleBulk(2000) }, 2000},
	} {
		b.Run(x.name, func(b *testing.B) {
			var sent atomic.Int64
			b.SetParallelism(16)
			b.RunParallel(func(pb *testing.PB) {
				for pb.Next() {
					msg, err := nc.Request("carillon.v1.default."+x.verb, x.body(sent.Add(1)), time.Minute)
					if err != nil || msg.Header.Get("Nats-Service-Error-Code") != "" {
						b.Errorf("%s, %v", msg.Data, err)
						return
					}
				}
			})
			b.ReportMetric(float64(max(1, x.jobs))*float64(b.N)/b.Elapsed().Seconds(), "per-s")
		})
	}
}
