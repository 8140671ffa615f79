package scheduler

import (
	"testing"
	"time"

	"github.com/carillon-io/carillon/apierr"
	"github.com/carillon-io/carillon/job"
	"github.com/carillon-io/carillon/scheduler/core"
)

// TestPutWithAnOlderCalendar changes a calendar, or deletes it, between the reading of a put and its step: the ticks of
// the job are those of the calendar of the step.
func TestPutWithAnOlderCalendar(t *testing.T) {
	closed := func(days ...string) *core.PutCalendar {
		return &core.PutCalendar{Calendar: job.Calendar{Tenant: "default", Name: "closed", Exclude: days}}
	}
	for _, known := range []bool{false, true} { // whether another job has the same schedule
		s := newSim(t, time.Date(2026, 1, 5, 12, 0, 0, 0, time.UTC), Settings{CompletedRetention: -1})
		follows := func(d *job.Definition) { d.Exclude = []string{"@calendar closed"} }
		s.propose(closed("2026-01-06"))
		if known {
			s.putIn("other", "0 8 * * *", "", follows)
		}
		def := job.Defaults()
		def.Tenant, def.Name, def.Target = "default", "late", job.Target{Kind: job.TargetNATS, Subject: "out"}
		def.Schedule = "0 8 * * *"
		follows(&def)
		p := must(s.engine.prepare(&def))
		s.propose(closed("2026-01-07"))
		s.propose(p)
		if p.Err != nil {
			t.Fatal(p.Err)
		}
		s.wantNext("late", "06 08:00")
		if known {
			continue
		}

		def.Name = "lost"
		p = must(s.engine.prepare(&def))
		s.propose(&core.Delete{Tenant: "default", Name: "late", Hash: s.hash("late")})
		s.propose(&core.DeleteCalendar{Tenant: "default", Name: "closed"})
		s.propose(p)
		if p.Err == nil || apierr.From(p.Err).Code != apierr.InvalidSchedule {
			t.Errorf("a job that follows a calendar that is gone: %v", p.Err)
		}
	}
}

// TestUpdateBeforeJobFollows updates a job after its calendar changed and before the job has followed: it follows.
func TestUpdateBeforeJobFollows(t *testing.T) {
	closed := func(days ...string) *core.PutCalendar {
		return &core.PutCalendar{Calendar: job.Calendar{Tenant: "default", Name: "closed", Exclude: days}}
	}
	s := newSim(t, time.Date(2026, 1, 5, 12, 0, 0, 0, time.UTC), Settings{CompletedRetention: -1})
	s.propose(closed("2026-01-06"))
	s.putIn("a", "0 8 * * *", "", func(d *job.Definition) { d.Exclude = []string{"@calendar closed"} })
	s.wantNext("a", "07 08:00")
	def := s.view("a").Def
	def.Payload = []byte("other")
	p := must(s.engine.prepare(&def))
	if err := s.engine.readPrior(p); err != nil {
		t.Fatal(err)
	}
	s.propose(closed("2026-01-07"), p)
	if p.Err != nil {
		t.Fatal(p.Err)
	}
	s.wantNext("a", "06 08:00")
}
