package scheduler

import (
	"testing"
	"time"

	"github.com/carillon-io/carillon/job"
)

// TestClockBehind: the status says how far the clock is behind what is decided, until it has caught up, also after a start, when
// only the rows of the jobs tell: by them it is known up to the largest lead.
func TestClockBehind(t *testing.T) {
	start := time.Date(2026, 1, 5, 12, 0, 0, 0, time.UTC)
	s := &story{sim: newSim(t, start, Settings{})}
	behind := func(want time.Duration) {
		t.Helper()
		if got := s.engine.Status().ClockBehind; got != want {
			t.Errorf("the clock is %s behind, want %s", got, want)
		}
	}
	s.putAny(&job.Definition{
		Tenant: "a", Name: "x", Schedule: "@every 10s", Completion: job.CompletionDelivered,
		Target: job.Target{Kind: job.TargetNATS, Subject: "x"},
	})
	s.advance(time.Minute)
	behind(0)
	s.now = s.now.Add(-2 * time.Hour)
	behind(2 * time.Hour)
	s.advance(time.Minute)
	behind(2*time.Hour - time.Minute)
	s.crash()
	behind(2*time.Hour - 2*time.Minute)
	s.advance(2 * time.Hour)
	behind(0)
}
