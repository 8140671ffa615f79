package core

import (
	"testing"
	"time"

	"github.com/carillon-io/carillon/instant"
	"github.com/carillon-io/carillon/job"
)

// TestLeadCountsFromNow: a standby that followed for an hour begins with what the time is when it leads, and
// not with what it was when it was loaded.
func TestLeadCountsFromNow(t *testing.T) {
	start := instant.Of(time.Date(2026, 1, 5, 12, 0, 0, 0, time.UTC))
	end := start.Add(time.Hour)
	settings := Settings{Lead: 10 * time.Second, Grace: time.Second}
	c := New(settings, start)
	var b job.Batch
	b.PutMeta(metaUsualRate, 2000)
	if err := c.Follow(b.Bytes(), start); err != nil {
		t.Fatal(err)
	}
	c.lead(4, 77, end)
	fresh := newPace(0, 1, end)
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
	c, _, now := newFollowed(t, 100, 0)
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
