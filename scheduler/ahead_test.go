package scheduler

import (
	"fmt"
	"strings"
	"testing"
	"time"
)

// TestUpdatesWithManyTicksAhead updates a job to schedules with more ticks within the lead than an update decides: each
// tick has one outcome, whatever ranges are skipped, and no later update brings one back.
func TestUpdatesWithManyTicksAhead(t *testing.T) {
	s := newSim(t, time.Date(2026, 1, 5, 12, 0, 0, 0, time.UTC), Settings{Lead: 5 * time.Second, CompletedRetention: -1})
	s.putIn("q", "@every 1s", "")
	s.advance(1500 * time.Millisecond)
	kept := 0
	for _, every := range []int{20, 500, 10, 70, 10, 1000} {
		s.putIn("q", fmt.Sprintf("@every %dms", every), "")
		s.advance(1500 * time.Millisecond)
		kept = s.checkOutcomes("q")
	}
	if kept < 64 {
		t.Errorf("%d ticks have fired in all", kept)
	}
}

// checkOutcomes checks that no tick of a job has two outcomes, and returns how many were fired.
func (s *sim) checkOutcomes(name string) (fired int) {
	s.t.Helper()
	until, seen := "", map[string]bool{}
	for line := range strings.Lines(s.ledger(name)) {
		words := strings.Fields(line)
		if at := words[0]; seen[at] || at <= until {
			s.t.Fatalf("a tick has a second outcome, after %s: %s", until, line)
		} else if seen[at] = true; words[1] != "skipped" {
			fired++
		}
		if n := len(words); n > 2 && words[n-2] == "until" {
			until = words[n-1]
		}
	}
	return fired
}
