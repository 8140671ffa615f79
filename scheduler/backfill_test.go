package scheduler

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/carillon-io/carillon/instant"
	"github.com/carillon-io/carillon/job"
	"github.com/carillon-io/carillon/scheduler/core"
)

// TestTwoBackfillsAtOnce: two that looked at the ledger at the same time do not fire the same ticks.
func TestTwoBackfillsAtOnce(t *testing.T) {
	s := newBackfillSim(t, "* * * * *")
	first, second := s.prepared(t, 0), s.prepared(t, 0)
	one, two := first.proposal(0), second.proposal(0)
	s.propose(one, two)
	if one.Err != nil || !errors.Is(two.Err, core.ErrStale) || len(s.left) != 60 {
		t.Fatalf("the first: %v; the second: %v; %d runs left, want 60", one.Err, two.Err, len(s.left))
	}
	if again := s.prepared(t, 0); len(again.at) != 0 || again.result.LeftOut != 60 {
		t.Errorf("%d ticks to fire and %d left out, want 0 and 60", len(again.at), again.result.LeftOut)
	}
}

// TestBackfillOfManyCommits: a backfill of the largest size takes several commits. If it is cut off between them,
// the next one does the rest.
func TestBackfillOfManyCommits(t *testing.T) {
	s := newBackfillSim(t, "* * * * * *")
	b := s.prepared(t, BackfillMax)
	if len(b.at) != 3600 {
		t.Fatalf("%d ticks, want 3600", len(b.at))
	}
	p := b.proposal(0)
	s.propose(p)
	if p.Err != nil || len(p.At) != backfillChunk || p.Bytes() > gatherBytes {
		t.Fatalf("a piece of %d runs and %d bytes: %v", len(p.At), p.Bytes(), p.Err)
	}
	var done BackfillResult
	var err error
	before := s.store.Applied().LSN
	s.call(func() { done, err = s.engine.Backfill(context.Background(), s.backfillRequest(BackfillMax)) })
	commits := s.store.Applied().LSN - before
	if err != nil || done.Runs != 3600-backfillChunk || done.LeftOut != backfillChunk || len(s.left) != 3600 || commits < 7 {
		t.Errorf("%+v (%v) in %d commits, %d runs left", done, err, commits, len(s.left))
	}
}

// TestBackfillBeyondTheShare: a backfill of many commits that the tenant has no room for starts no run at all.
func TestBackfillBeyondTheShare(t *testing.T) {
	s := newBackfillSim(t, "* * * * * *")
	s.engine.core.Limit(core.Limits{Manual: 3599})
	var done BackfillResult
	var err error
	s.call(func() { done, err = s.engine.Backfill(context.Background(), s.backfillRequest(BackfillMax)) })
	if !isQuota(err) || done.Runs != 0 || len(s.left) != 0 {
		t.Errorf("%+v (%v), %d runs left; want none", done, err, len(s.left))
	}
}

// TestRetryManyUpToTheShare: of dead runs as many are retried as the tenant has room for, and the answer says that there
// are more.
func TestRetryManyUpToTheShare(t *testing.T) {
	s := newBackfillSim(t, "* * * * * *")
	s.target["a"] = "broken"
	s.call(func() { _, _ = s.engine.Backfill(context.Background(), s.backfillRequest(BackfillMax)) })
	s.target["a"] = "hang"
	s.engine.core.Limit(core.Limits{Manual: 5})
	var n int
	var more bool
	var err error
	retry := func() {
		n, more, err = s.engine.RetryDead(context.Background(), RunQuery{Tenant: "default", Job: "a", Limit: 10})
	}
	if s.call(retry); n != 5 || !more || err != nil {
		t.Errorf("%d retried, more: %t (%v); want 5 and more", n, more, err)
	}
	if s.call(retry); n != 0 || !isQuota(err) {
		t.Errorf("%d retried (%v) beyond the share", n, err)
	}
}

func newBackfillSim(t *testing.T, schedule string) *sim {
	s := newSim(t, time.Date(2026, 1, 5, 12, 0, 0, 0, time.UTC), Settings{})
	def := job.Defaults()
	def.Tenant, def.Name, def.Target = "default", "a", job.Target{Kind: job.TargetNATS, Subject: "out"}
	def.Schedule, def.Overlap, def.Paused, def.Retry.MaxAttempts = schedule, job.OverlapAllow, true, 1
	s.propose(must(s.engine.prepare(&def)))
	return s
}

func (s *sim) backfillRequest(limit int) BackfillRequest {
	now := instant.Of(s.now)
	return BackfillRequest{Tenant: "default", Job: "a", From: now - 3600_000, To: now, Limit: limit}
}

func (s *sim) prepared(t *testing.T, limit int) *backfilling {
	b := &backfilling{engine: s.engine, request: s.backfillRequest(limit)}
	if err := b.prepare(context.Background()); err != nil {
		t.Fatal(err)
	}
	return b
}
