package scheduler

import (
	"context"
	"testing"
	"time"

	"github.com/carillon-io/carillon/job"
	"github.com/carillon-io/carillon/scheduler/core"
)

// TestOriginIsKept: the span of a registration comes with every run of the job, until a registration without
// one replaces it. Its row is within what the proposal said.
func TestOriginIsKept(t *testing.T) {
	s := newSim(t, time.Date(2026, 12, 1, 0, 0, 0, 0, time.UTC), Settings{Lead: time.Second})
	origin := job.TraceContext{Trace: [16]byte{1}, Span: [8]byte{2}, Flags: 1}
	def := job.Defaults()
	def.Tenant, def.Name, def.Schedule, def.Target = "t", "n", "@every 1m", job.Target{Kind: job.TargetNATS, Subject: "s"}
	for i, want := range []job.TraceContext{origin, {}, origin} {
		p, err := s.engine.prepare(&def)
		if err != nil {
			t.Fatal(err)
		}
		if i > 0 {
			if err := s.engine.readPrior(p); err != nil {
				t.Fatal(err)
			}
		}
		p.Origin = originOf(WithOrigin(context.Background(), want))
		said := p.Bytes()
		s.begin()
		s.gather.add(newTicket(p))
		s.finish()
		if p.Err != nil {
			t.Fatal(p.Err)
		}
		if size := s.engine.core.Inspect().StepBytes; size > said {
			t.Errorf("registration %d: %d bytes, said %d", i+1, size, said)
		}
		s.propose(&core.Trigger{Tenant: "t", Name: "n", Hash: p.Hash})
		if d := s.given["n"]; d == nil || d.Run.Seq != uint32(i+1) || d.Origin != want {
			t.Errorf("registration %d: delivered as %+v; want the origin %+v", i+1, d, want)
		}
	}
}
