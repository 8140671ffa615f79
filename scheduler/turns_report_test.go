package scheduler

import (
	"testing"
	"time"

	"github.com/carillon-io/carillon/job"
	"github.com/carillon-io/carillon/scheduler/core"
)

// TestUpdateHoldsTheTurn: what an update changes may be what ends a run. A run that is with its target keeps its turn
// until the core has decided, and then waits for the report that is demanded now.
func TestUpdateHoldsTheTurn(t *testing.T) {
	reported := func(d *job.Definition) { d.Completion, d.AttemptTimeout = job.CompletionReported, time.Hour }
	s := newSim(t, time.Date(2026, 1, 5, 12, 0, 0, 0, time.UTC), Settings{})
	s.target["a"] = "hang"
	s.putIn("a", "@every 1s", "")
	s.advance(time.Second)
	s.putIn("a", "@every 1s", "", reported)
	s.flying["a"][0].end("", s.now)
	s.advance(5 * time.Second)
	if len(s.left) != 1 {
		t.Errorf("%d runs left; want the first alone, which waits for its report", len(s.left))
	}
}

// TestStepReoccupiesTheTurn: a trigger and an update in one step. The launch was made before the update, so its success
// frees the turn; the core then waits for a report, and the next run waits for the turn.
func TestStepReoccupiesTheTurn(t *testing.T) {
	s := newSim(t, time.Date(2026, 1, 5, 12, 0, 0, 0, time.UTC), Settings{})
	s.target["a"] = "hang"
	s.putIn("a", "@every 1h", "")
	d := job.Defaults()
	d.Tenant, d.Name, d.Target = "default", "a", job.Target{Kind: job.TargetNATS, Subject: "out"}
	d.Schedule, d.Completion, d.AttemptTimeout = "@every 1h", job.CompletionReported, time.Hour
	put := must(s.engine.prepare(&d))
	if err := s.engine.readPrior(put); err != nil {
		t.Fatal(err)
	}
	trigger := func() *core.Trigger { return &core.Trigger{Tenant: "default", Name: "a", Hash: s.hash("a")} }
	s.propose(trigger(), put)
	if put.Err != nil || len(s.flying["a"]) != 1 {
		t.Fatalf("%v; %d attempts are under way", put.Err, len(s.flying["a"]))
	}
	s.answer("a", "")
	s.propose(trigger())
	s.advance(time.Second)
	if len(s.left) != 1 {
		t.Errorf("%v left; want the first alone, which waits for its report", s.left)
	}
}
