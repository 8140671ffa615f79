package scheduler

import (
	"context"
	"testing"
	"time"

	"github.com/carillon-io/carillon/instant"
	"github.com/carillon-io/carillon/job"
)

// TestListsHaveEveryDay: runs that end long after their scheduled time, and runs and audit entries of a time that the clock has not
// reached again, are in the lists.
func TestListsHaveEveryDay(t *testing.T) {
	s := newSim(t, time.Date(2026, 1, 25, 12, 0, 0, 0, time.UTC), Settings{HistoryDays: 1})
	s.target["a"] = "broken"
	def := job.Defaults()
	def.Tenant, def.Name, def.Target = "default", "a", job.Target{Kind: job.TargetNATS, Subject: "out"}
	def.Schedule, def.Overlap, def.Paused, def.Retry.MaxAttempts = "0 3 * * *", job.OverlapAllow, true, 1
	s.propose(must(s.engine.prepare(&def)))
	backfill := func(limit int) {
		q := s.backfillRequest(limit)
		q.From -= 20 * dayMillis
		s.call(func() {
			if _, err := s.engine.Backfill(context.Background(), q); err != nil {
				t.Error(err)
			}
		})
	}
	s.now = s.now.Add(10 * 24 * time.Hour) // the clock is ahead
	s.call(func() {
		if _, err := s.engine.Trigger(context.Background(), TriggerRequest{Tenant: "default", Job: "a"}); err != nil {
			t.Error(err)
		}
	})
	s.now = s.now.Add(-10 * 24 * time.Hour)
	backfill(5) // of days that the history has no more
	for _, q := range []RunQuery{{Job: "a"}, {Job: "a", Status: job.StatusDead}, {Status: job.StatusDead}} {
		q.Tenant, q.Limit = "default", 2
		var pages, runs int
		for more := true; more; pages++ {
			page, err := s.engine.Runs(context.Background(), q)
			if err != nil {
				t.Fatal(err)
			}
			runs += len(page.Runs)
			q.After, more = page.Next, page.Next.Job != 0
		}
		if runs != 6 || pages < 3 {
			t.Errorf("%d runs of status %s in %d pages", runs, q.Status, pages)
		}
	}
	from := instant.Of(s.now)
	none := RunQuery{Tenant: "default", Job: "a", Limit: 2, From: from, After: job.RunID{Job: 1, At: from - 9*dayMillis}}
	if page, err := s.engine.Runs(context.Background(), none); err != nil || len(page.Runs) != 0 {
		t.Errorf("behind a cursor before the beginning: %d runs, %v", len(page.Runs), err)
	}
	audit, err := s.engine.Audit(context.Background(), AuditQuery{Tenant: "default", Limit: 100})
	if err != nil || len(audit.Entries) != 2 {
		t.Errorf("%d entries of the audit log, %v", len(audit.Entries), err)
	}
}

// TestBackfillOfOldDays: a backfill of days that the history has no more knows the runs that an earlier one started there.
func TestBackfillOfOldDays(t *testing.T) {
	s := newSim(t, time.Date(2026, 1, 25, 12, 0, 0, 0, time.UTC), Settings{HistoryDays: 1})
	def := job.Defaults()
	def.Tenant, def.Name, def.Target = "default", "a", job.Target{Kind: job.TargetNATS, Subject: "out"}
	def.Schedule, def.Overlap, def.Paused = "0 3 * * *", job.OverlapAllow, true
	s.propose(must(s.engine.prepare(&def)))
	for i, want := range []BackfillResult{{Runs: 20}, {LeftOut: 20}, {Runs: 10, LeftOut: 20}} {
		q := s.backfillRequest(0)
		if q.From -= 20 * dayMillis; i == 2 {
			q.From -= 10 * dayMillis
		}
		s.call(func() {
			if done, err := s.engine.Backfill(context.Background(), q); err != nil || done.Runs != want.Runs || done.LeftOut != want.LeftOut {
				t.Errorf("backfill %d: %+v, %v; want %+v", i, done, err, want)
			}
		})
	}
}
