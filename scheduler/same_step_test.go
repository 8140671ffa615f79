package scheduler

import (
	"testing"
	"time"

	"github.com/carillon-io/carillon/job"
	"github.com/carillon-io/carillon/scheduler/core"
)

// TestPauseBehindUpdate pauses a job in the very step of an update that lets a tick become a run whose launch the
// jitter puts off: a run that has not left when the pause is answered does not leave.
func TestPauseBehindUpdate(t *testing.T) {
	for name, second := range map[string]func(s *sim, first *core.Put) core.Proposal{
		"pause": func(s *sim, _ *core.Put) core.Proposal {
			return &core.Pause{Tenant: "default", Name: "a", Hash: s.hash("a")}
		},
		"delete": func(s *sim, _ *core.Put) core.Proposal {
			return &core.Delete{Tenant: "default", Name: "a", Hash: s.hash("a")}
		},
		"paused put": func(s *sim, first *core.Put) core.Proposal {
			def := must(job.DecodeAuditDefinition(first.Definition))
			def.Tenant, def.Name, def.Paused = "default", "a", true
			p := must(s.engine.prepare(&def))
			p.Earlier = first
			return p
		},
	} {
		t.Run(name, func(t *testing.T) {
			s := newSim(t, time.Date(2026, 1, 5, 12, 0, 1, 0, time.UTC), Settings{CompletedRetention: -1})
			jitter := func(d *job.Definition) { d.Jitter = 59 * time.Minute }
			s.putIn("a", "0 * * * *", "", jitter)
			s.advance(time.Hour) // the tick of 13:00 has passed, its launch is put off
			if len(s.left) != 0 {
				t.Fatalf("%v left; the test wants a later launch", s.left)
			}
			def := job.Defaults()
			def.Tenant, def.Name, def.Target = "default", "a", job.Target{Kind: job.TargetNATS, Subject: "out"}
			def.Schedule = "0 0-23 * * *"
			jitter(&def)
			p := must(s.engine.prepare(&def))
			if err := s.engine.readPrior(p); err != nil {
				t.Fatal(err)
			}
			s.proposeOnly(p, second(s, p))
			if p.Err != nil {
				t.Fatal(p.Err)
			}
			s.advance(time.Hour)
			if len(s.left) != 0 {
				t.Errorf("%v left after the %s", s.left, name)
			}
		})
	}
}
