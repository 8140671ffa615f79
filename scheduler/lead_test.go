package scheduler

import (
	"context"
	"testing"
	"time"

	"github.com/carillon-io/carillon/instant"
	"github.com/carillon-io/carillon/job"
)

// TestLeadFinishesReplan: the leader dies between a change of a calendar and the jobs' following it. They
// follow it under the next one.
func TestLeadFinishesReplan(t *testing.T) {
	s := newSim(t, time.Date(2026, 1, 5, 12, 0, 0, 0, time.UTC), Settings{})
	calendar := func(day string) *PutCalendar {
		return &PutCalendar{Calendar: job.Calendar{Tenant: "default", Name: "closed", Exclude: []string{day}}}
	}
	s.propose(calendar("2026-12-25"))
	s.join()
	def := job.Defaults()
	def.Tenant, def.Name, def.Target = "default", "a", job.Target{Kind: job.TargetNATS, Subject: "out"}
	def.Schedule, def.Exclude = "0 8 * * *", []string{"@calendar closed"}
	s.propose(must(s.engine.Prepare(&def)))
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
	s.propose(must(s.engine.Prepare(&def)))
	_, r := s.engine.core.find(s.hash("a"))
	var b job.Batch
	b.PutStreak(r.id, 3)
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

// TestLeadCountsFromNow: a standby that followed for an hour begins with what the time is when it leads, and
// not with what it was when it was loaded.
func TestLeadCountsFromNow(t *testing.T) {
	start := instant.Of(time.Date(2026, 1, 5, 12, 0, 0, 0, time.UTC))
	end := start.Add(time.Hour)
	settings := Settings{Lead: 10 * time.Second, Grace: time.Second}
	c := NewCore(settings, start)
	var b job.Batch
	b.PutMeta(metaUsualRate, 2000)
	if err := c.Follow(b.Bytes(), start); err != nil {
		t.Fatal(err)
	}
	c.lead(4, 77, end)
	fresh := newPace(0, end)
	fresh.restore(2000)
	if c.pace != fresh {
		t.Errorf("pace %+v, want %+v", c.pace, fresh)
	}
	if c.now != end || c.led != end || c.fenceMin != 77 || c.epoch != 4 {
		t.Errorf("now %s, fence %d, epoch %d", c.now, c.fenceMin, c.epoch)
	}
	if c.onces.covers(76) || !c.onces.covers(77) || c.redone.covers(76) || !c.redone.covers(77) || c.overAhead.covers(76) || !c.overAhead.covers(77) {
		t.Error("who read the store before the epoch began is believed, or who read it since is not")
	}
	if at := instant.Millis(c.wheel.Now()); at < end-10_000 || at > end {
		t.Errorf("the wheel stands at %s, and it is %s", at, end)
	}
}

// TestRewind: the clock of a standby is set back by an hour. What was late is not any more, and comes off the
// wheel at its time.
func TestRewind(t *testing.T) {
	c, now := newFollowed(t, 100)
	later := now.Add(time.Hour)
	c.KeepTime(later)
	if c.late.Len() != 100 || c.wheel.Len() != 0 {
		t.Fatalf("%d jobs are late and %d on the wheel, want all late", c.late.Len(), c.wheel.Len())
	}
	c.KeepTime(now)
	if c.late.Len() != 0 || c.wheel.Len() != 100 || c.backlogged != 0 || c.Armed() != 100 {
		t.Fatalf("%d jobs are late and %d on the wheel, want none late", c.late.Len(), c.wheel.Len())
	}
	c.lead(1, 1, now)
	if out := c.Step(Input{Now: now, LSN: 2, Room: 1000}); len(out.Launches) != 1 { // the first is due in exactly the lead
		t.Errorf("%d launches, want 1", len(out.Launches))
	}
}
