package scheduler

import (
	"testing"
	"time"
)

// TestCompletedJobIsNotAway: what is remembered of a one-shot that is registered for an instant that has passed goes
// with its decision, not with the job.
func TestCompletedJobIsNotAway(t *testing.T) {
	s := newSim(t, time.Date(2026, 1, 5, 12, 0, 0, 0, time.UTC), Settings{CompletedRetention: time.Hour})
	s.putIn("past", "@at 2026-01-05T11:30:00Z", "")
	s.settle()
	if n := s.engine.core.Inspect().Away; n != 0 || len(s.left) != 1 {
		t.Errorf("%d runs left, and %d jobs are away; want 1 and 0", len(s.left), n)
	}
}
