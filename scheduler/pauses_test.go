package scheduler

import (
	"testing"

	"github.com/carillon-io/carillon/job"
	"github.com/carillon-io/carillon/scheduler/core"
)

// TestPauseQueue: none of many jobs that fail at once is lost, and each is there once.
func TestPauseQueue(t *testing.T) {
	q := newPauseQueue()
	const jobs = 20_000
	for i := range 2 * jobs {
		q.add(core.AutoPause{ID: job.ID(1 + i%jobs)})
	}
	for n := 1; ; n++ {
		select {
		case <-q.ready:
		default:
			t.Fatalf("nothing is ready before job %d", n)
		}
		if p, ok := q.next(); !ok || p.ID != job.ID(n) {
			t.Fatalf("job %s, %t; want %d", p.ID, ok, n)
		}
		if n == jobs {
			break
		}
	}
	if _, ok := q.next(); ok {
		t.Error("a job is there twice")
	}
}
