package dispatch

import (
	"fmt"
	"net/http"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/carillon-io/carillon/job"
	"github.com/carillon-io/carillon/testkit"
	"github.com/nats-io/nats.go"
)

// BenchmarkLaunch measures, for a real server in the same process, the throughput of launches as fast
// as they are confirmed, with at most 4,096 open. Nobody subscribes to the nats subject, so that the
// allocations are those of the launch and not of a receiver; a request needs one.
func BenchmarkLaunch(b *testing.B) {
	subjects := map[job.TargetKind]string{job.TargetNATS: "bench.nobody", job.TargetRequest: "bench.request"}
	for _, kind := range []job.TargetKind{job.TargetNATS, job.TargetRequest} {
		b.Run("kind="+kind.String(), func(b *testing.B) {
			d := benchDispatcher(b)
			open := make(chan struct{}, 4096)
			done := func(o job.Outcome) {
				if o.Error != "" {
					b.Error(o.Error)
				}
				<-open
			}
			del := deliveryTo(job.Target{Kind: kind, Subject: subjects[kind]}, 0)
			b.ReportAllocs()
			for b.Loop() {
				open <- struct{}{}
				lineOf(d).Launch(del, done)
			}
			testkit.Until(b, "all are done", func() bool { return len(open) == 0 })
		})
	}
}

// BenchmarkLaunchPunctuality launches at a fixed rate, in bursts of one per millisecond as the tick
// thread does, and reports how long Launch takes and how much later the sender begins. With stuck
// targets, a hundred hosts and services that never answer are kept full at the same time.
func BenchmarkLaunchPunctuality(b *testing.B) {
	for _, rate := range []int{1000, 10_000, 50_000} {
		for _, stuck := range []bool{false, true} {
			b.Run(fmt.Sprintf("rate=%d/stuck=%t", rate, stuck), func(b *testing.B) {
				d := benchDispatcher(b)
				if stuck {
					fillStuck(b, d)
				}
				for b.Loop() {
					report(b, d, rate, time.Second)
				}
			})
		}
	}
}

// benchDispatcher is connected to a server where somebody listens to bench.nats, answers at
// bench.request and hangs at stuck.*.
func benchDispatcher(b *testing.B) *Dispatcher {
	s := startNATS(b, nil)
	nc := dial(b, s.ClientURL())
	subscribe(b, nc, "bench.nats", func(*nats.Msg) {})
	subscribe(b, nc, "bench.request", func(m *nats.Msg) { _ = m.Respond(nil) })
	subscribe(b, nc, "stuck.*", func(*nats.Msg) {})
	return start(b, Options{AllowPrivateTargets: true}, s.ClientURL())
}

// fillStuck gives fifty hosts and fifty services that hang more than they may have in flight.
func fillStuck(b *testing.B, d *Dispatcher) {
	for n := range 50 {
		url := serve(b, func(_ http.ResponseWriter, r *http.Request) { <-r.Context().Done() })
		del := deliveryTo(httpTarget(url), n)
		del.Target.Method, del.Timeout = "GET", time.Hour
		service := deliveryTo(requestTarget(fmt.Sprint("stuck.", n)), n)
		service.Timeout = time.Hour
		for range 100 {
			lineOf(d).Launch(del, func(job.Outcome) {})
			lineOf(d).Launch(service, func(job.Outcome) {})
		}
	}
	testkit.Until(b, "the stuck targets are full", func() bool { return d.Stats().InFlight == 2*50*64 })
}

// report launches for a while at a rate and reports the percentiles.
func report(b *testing.B, d *Dispatcher, rate int, length time.Duration) {
	n := int(int64(rate) * int64(length) / int64(time.Second))
	calls, late := make([]time.Duration, n), make([]time.Duration, n)
	del := deliveryTo(natsTarget("bench.nats"), 0)
	lane := del.Lane()
	var failed atomic.Int64
	var all sync.WaitGroup
	all.Add(n)
	tick := time.NewTicker(time.Millisecond)
	defer tick.Stop()
	begin := time.Now()
	for i := 0; i < n; {
		<-tick.C
		due := min(n, int(int64(time.Since(begin))*int64(rate)/int64(time.Second)))
		for ; i < due; i++ {
			at, launched := i, time.Now()
			d.Reserve(lane, len(del.Payload), nil)
			d.Launch(del, func(o job.Outcome) {
				late[at] = o.LaunchedAt.Sub(launched)
				if o.Error != "" {
					failed.Add(1)
				}
				all.Done()
			})
			calls[i] = time.Since(launched)
		}
	}
	all.Wait()
	if failed.Load() > 0 {
		b.Errorf("%d launches failed", failed.Load())
	}
	slices.Sort(calls)
	slices.Sort(late)
	micros := func(d time.Duration) float64 { return float64(d) / float64(time.Microsecond) }
	b.ReportMetric(micros(calls[n/2]), "call-p50-µs")
	b.ReportMetric(micros(calls[n*99/100]), "call-p99-µs")
	b.ReportMetric(micros(late[n/2]), "late-p50-µs")
	b.ReportMetric(micros(late[n*99/100]), "late-p99-µs")
	b.ReportMetric(micros(late[n-1]), "late-max-µs")
}
