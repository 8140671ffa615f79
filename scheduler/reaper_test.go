package scheduler

import (
	"testing"
	"time"

	"github.com/carillon-io/carillon/instant"
	"github.com/carillon-io/carillon/job"
	"github.com/carillon-io/carillon/scheduler/core"
)

// TestReapCountsFromTheResume: a resume may complete a job whose last tick the history has long forgotten. The
// retention of the job counts from the resume, also after a crash.
func TestReapCountsFromTheResume(t *testing.T) {
	s := newSim(t, time.Date(2026, 1, 5, 12, 0, 0, 0, time.UTC), Settings{HistoryDays: 1, CompletedRetention: -1})
	def := oneShot("late", 0)
	def.Schedule, def.Missed, def.Paused = "@at 2026-01-05T12:01:00Z", job.MissedSkip, true
	p := must(s.engine.prepare(def))
	s.propose(p)
	if p.Err != nil {
		t.Fatal(p.Err)
	}
	s.now = s.now.Add(120 * time.Hour)
	resume := &core.Pause{Tenant: "default", Name: "late", Hash: s.hash("late"), Resume: true}
	if s.propose(resume); resume.Err != nil {
		t.Fatal(resume.Err)
	}
	resumed := instant.Of(s.now)
	s.now = s.now.Add(time.Second)
	s.crash()
	reap := core.Reap{ID: p.Stamp.ID, Keep: time.Hour, Led: instant.Of(s.now)}
	if item := s.engine.judge(reap); item.Until != resumed+3_600_000 {
		t.Errorf("the job is kept until %s, want %s", item.Until, resumed+3_600_000)
	}
	s.now = s.now.Add(time.Hour)
	if item := s.engine.judge(reap); item.Until != 0 || item.Gone {
		t.Errorf("an hour later the job is kept until %s", item.Until)
	}
}
