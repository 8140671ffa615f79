package scheduler

import (
	"context"
	"testing"
	"time"

	"github.com/carillon-io/carillon/job"
	"github.com/carillon-io/carillon/scheduler/core"
)

// TestLeadFinishesReplan: the leader dies between a change of a calendar and the jobs' following it. They
// follow it under the next one.
func TestLeadFinishesReplan(t *testing.T) {
	s := newSim(t, time.Date(2026, 1, 5, 12, 0, 0, 0, time.UTC), Settings{})
	calendar := func(day string) *core.PutCalendar {
		return &core.PutCalendar{Calendar: job.Calendar{Tenant: "default", Name: "closed", Exclude: []string{day}}}
	}
	s.propose(calendar("2026-12-25"))
	s.join()
	def := job.Defaults()
	def.Tenant, def.Name, def.Target = "default", "a", job.Target{Kind: job.TargetNATS, Subject: "out"}
	def.Schedule, def.Exclude = "0 8 * * *", []string{"@calendar closed"}
	s.propose(must(s.engine.prepare(&def)))
	s.proposeOnly(calendar("2026-01-06"))
	if err := s.takeOver(); err != nil {
		t.Fatal(err)
	}
	s.settle()
	v, err := s.engine.Get(context.Background(), "default", "a")
	if want := time.Date(2026, 1, 7, 8, 0, 0, 0, time.UTC); err != nil || !v.NextRunAt.Time().Equal(want) {
		t.Errorf("the next run is at %s, want %s (%v)", v.NextRunAt, want, err)
	}
}

// TestLeadPausesOverdrawn: the leader dies between the last of too many failures and the pause that follows
// from it. The next one pauses the job.
func TestLeadPausesOverdrawn(t *testing.T) {
	s := newSim(t, time.Date(2026, 1, 5, 12, 0, 0, 0, time.UTC), Settings{})
	s.join()
	def := job.Defaults()
	def.Tenant, def.Name, def.Target = "default", "a", job.Target{Kind: job.TargetNATS, Subject: "out"}
	def.Schedule, def.PauseOnFailure = "@every 1h", 3
	s.propose(must(s.engine.prepare(&def)))
	var b job.Batch
	b.PutStreak(s.engine.core.IDOf(s.hash("a")), 3)
	if err := s.store.Apply(must(s.log.Append(1, b.Bytes())), b.Bytes()); err != nil {
		t.Fatal(err)
	}
	if err := s.takeOver(); err != nil {
		t.Fatal(err)
	}
	s.settle()
	v, err := s.engine.Get(context.Background(), "default", "a")
	if err != nil || v.Status != "paused" || v.StatusReason != "3 runs in a row failed" {
		t.Errorf("the job is %s (%q), %v", v.Status, v.StatusReason, err)
	}
}
