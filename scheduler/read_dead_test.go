package scheduler

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/carillon-io/carillon/job"
	"github.com/carillon-io/carillon/testkit"
)

// The names of two tenants with the same hash.
const ours, theirs = "acme", "ten65761"

// newTwinsSim returns a simulation in which each of two tenants with the same hash has a job with dead runs: theirs has more than a page reads,
// and all are newer.
func newTwinsSim(t *testing.T) *sim {
	t.Helper()
	if job.HashTenant(ours) != job.HashTenant(theirs) {
		t.Fatal("the names have different hashes")
	}
	s := newSim(t, time.Date(2026, 1, 5, 12, 0, 0, 0, time.UTC), Settings{})
	s.target["a"] = "broken"
	for _, tenant := range []string{ours, theirs} {
		def := job.Defaults()
		def.Tenant, def.Name, def.Target = tenant, "a", job.Target{Kind: job.TargetNATS, Subject: "out"}
		def.Schedule, def.Overlap, def.Paused, def.Retry.MaxAttempts = "* * * * * *", job.OverlapAllow, true, 1
		s.propose(must(s.engine.prepare(&def)))
	}
	q := s.backfillRequest(3)
	q.Tenant, q.From, q.To = ours, q.From-24*3600_000, q.To-24*3600_000
	s.call(func() { _, _ = s.engine.Backfill(context.Background(), q) })
	q = s.backfillRequest(BackfillMax)
	q.Tenant = theirs
	for range runScanMax/3600 + 1 {
		s.call(func() { _, _ = s.engine.Backfill(context.Background(), q) })
		q.From, q.To = q.From-3600_000, q.To-3600_000
	}
	return s
}

// TestDeadRunsOfATwin: of two tenants whose names have the same hash, neither sees or hides dead runs of the other. No cursor names a run of the
// other one, and what is changed in bulk is found behind its runs.
func TestDeadRunsOfATwin(t *testing.T) {
	testkit.NotUnderRace(t, drivenByHand)
	s := newTwinsSim(t)
	q := RunQuery{Tenant: ours, Status: job.StatusDead, Limit: 2}
	var listed []RunView
	for {
		page, err := s.engine.Runs(context.Background(), q)
		if err != nil || len(page.Runs) == 0 {
			t.Fatalf("%d runs, %v", len(page.Runs), err)
		}
		listed = append(listed, page.Runs...)
		if q.After = page.Next; q.After.Job == 0 {
			break
		}
		if q.After != listed[len(listed)-1].ID {
			t.Fatalf("the cursor has run %s, and the last one that is listed is %s", q.After, listed[len(listed)-1].ID)
		}
	}
	if len(listed) != 3 || listed[0].Tenant != ours {
		t.Errorf("%d runs are listed: %+v", len(listed), listed)
	}
	q = RunQuery{Tenant: ours, Limit: 10}
	s.call(func() {
		if n, more, err := s.engine.DismissDead(context.Background(), q, "known"); n != 3 || more || err != nil {
			t.Errorf("%d are dismissed, more: %t (%v)", n, more, err)
		}
	})
	ended, cancel := context.WithCancel(context.Background())
	cancel()
	if _, err := s.engine.Runs(ended, RunQuery{Tenant: ours, Status: job.StatusDead, Limit: 2}); !errors.Is(err, context.Canceled) {
		t.Errorf("a list whose time is over: %v", err)
	}
}

// TestRetryManyBehindOtherRuns: dead runs are retried though more runs than a page reads ended otherwise since.
func TestRetryManyBehindOtherRuns(t *testing.T) {
	testkit.NotUnderRace(t, drivenByHand)
	s := newBackfillSim(t, "* * * * * *")
	q := s.backfillRequest(BackfillMax)
	backfill := func(hoursAgo int64, limit int) {
		r := q
		r.Limit, r.From, r.To = limit, q.From.Add(-time.Duration(hoursAgo)*time.Hour), q.To.Add(-time.Duration(hoursAgo)*time.Hour)
		s.call(func() { _, _ = s.engine.Backfill(context.Background(), r) })
	}
	s.target["a"] = "broken"
	backfill(30, 2)
	s.target["a"] = ""
	for hours := range int64(runScanMax/3600 + 1) {
		backfill(hours, BackfillMax)
	}
	s.call(func() {
		if n, more, err := s.engine.RetryDead(context.Background(), RunQuery{Tenant: "default", Job: "a", Limit: 10}); n != 2 || more || err != nil {
			t.Errorf("%d are retried, more: %t (%v)", n, more, err)
		}
	})
}
