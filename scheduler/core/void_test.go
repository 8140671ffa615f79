package core

import (
	"testing"

	"github.com/carillon-io/carillon/job"
	"github.com/carillon-io/carillon/scheduler/pad"
)

// TestNoLaunchOfACancelledRun cancels a run for a later one, in the step that asks for its next attempt, or that puts it back:
// the launches of a step are all of runs that are live after it.
func TestNoLaunchOfACancelledRun(t *testing.T) {
	started := func(t *testing.T) (*herd, pad.Launch) {
		h := newHerd(t)
		h.put("tenant", "a", "@every 10s")
		h.now += 10_000
		list := h.step()
		if len(list) != 1 {
			t.Fatalf("%d launches, want 1", len(list))
		}
		return h, list[0]
	}
	failed := func(l pad.Launch) job.Outcome {
		return job.Outcome{Run: l.Run, Attempt: l.Attempt, Error: "broken"}
	}
	cancelled := func(l pad.Launch) job.Outcome { return job.Outcome{Run: l.Run, Cancelled: job.ReasonOverlap} }
	t.Run("asked for", func(t *testing.T) {
		h, l := started(t)
		if list := h.stepWith([]job.Outcome{failed(l), cancelled(l)}); len(list) != 0 || len(h.core.live) != 0 {
			t.Errorf("launches %v, %d live", list, len(h.core.live))
		}
	})
	t.Run("put back", func(t *testing.T) {
		h, l := started(t)
		next := h.stepWith([]job.Outcome{failed(l)})
		if len(next) != 1 || next[0].Attempt != 2 {
			t.Fatalf("launches %v, want the second attempt", next)
		}
		resume := &Pause{Tenant: "tenant", Name: "a", Hash: h.hasher.hash("tenant", "a"), Resume: true}
		resume.Withdrawn = append(resume.Withdrawn, next...)
		if list := h.stepWith([]job.Outcome{cancelled(l)}, resume); len(list) != 0 || len(h.core.live) != 0 {
			t.Errorf("launches %v, %d live", list, len(h.core.live))
		}
	})
}
