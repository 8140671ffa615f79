package pad

import (
	"fmt"
	"testing"

	"github.com/carillon-io/carillon/instant"
	"github.com/carillon-io/carillon/job"
)

// nullSender answers at once.
type nullSender struct{}

// Reserve implements Sender.
func (nullSender) Reserve(job.Lane, int, func() bool) bool { return true }

// Release implements Sender.
func (nullSender) Release(job.Lane, int) {}

// Launch implements Sender.
func (nullSender) Launch(d *job.Delivery, done func(job.Outcome)) {
	done(job.Outcome{Run: d.Run, Attempt: d.Attempt})
}

// BenchmarkPad is the way of a launch over the pad, without the reading of its job: so many are due in
// each millisecond.
func BenchmarkPad(b *testing.B) {
	for _, each := range []int{1, 16, 1024} {
		b.Run(fmt.Sprintf("each=%d", each), func(b *testing.B) {
			p := New(Options{Sender: nullSender{}, Report: func(job.Outcome, bool) {}})
			launches, delivery := make([]Launch, each), &job.Delivery{}
			var chunk, ready []*waiting
			b.ReportAllocs()
			b.ResetTimer()
			for n, now := 0, instant.Millis(1); n < b.N; n, now = n+each, now+1 {
				for i := range launches {
					launches[i] = Launch{Run: job.RunID{Job: job.ID(n + i + 1), At: now}, Due: now, Attempt: 1}
				}
				p.Add(launches, now-1)
				for chunk, _ = p.unreadChunk(now, chunk[:0]); len(chunk) > 0; chunk, _ = p.unreadChunk(now, chunk[:0]) {
					for _, w := range chunk {
						p.ready(w, delivery, nil, w.Due)
					}
				}
				for more := true; more; {
					more, ready = p.launchDue(now, ready[:0])
				}
			}
		})
	}
}
