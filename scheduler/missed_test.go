package scheduler

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/carillon-io/carillon/job"
)

// TestGapWithJitter: an outage of an hour is one skipped range and one tick that is fired, whatever share a job has of a
// jitter that is longer than the distance between its ticks.
func TestGapWithJitter(t *testing.T) {
	s := newSim(t, time.Date(2026, 1, 5, 12, 0, 1, 0, time.UTC), Settings{})
	for n := range 10 { // none of these launches its tick of 13:00 between 13:00:30 and the crash, when it would be on time
		s.putIn(fmt.Sprint("job-", n), "* * * * *", "", func(d *job.Definition) {
			d.Jitter, d.Missed, d.CatchupWindow = 30*time.Minute, job.MissedFireOnce, 24*time.Hour
		})
	}
	s.advance(30 * time.Second)
	s.now = s.now.Add(time.Hour)
	s.crash()
	s.advance(0)
	for n := range 10 {
		ledger := s.ledger(fmt.Sprint("job-", n))
		first, rest, _ := strings.Cut(ledger, "\n")
		if !strings.HasPrefix(first, "12:01:00.000 skipped (missed) until 12:5") || strings.Count(rest, "\n") != 1 || strings.Contains(rest, "skipped") {
			t.Errorf("job-%d missed an hour; want one skipped range and one run:\n%s", n, ledger)
		}
	}
}
