package scheduler

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/carillon-io/carillon/apierr"
	"github.com/carillon-io/carillon/job"
	"github.com/carillon-io/carillon/scheduler/core"
)

// newDeadSim returns a simulation in which the job "a" has two dead runs, and the newest of them.
func newDeadSim(t *testing.T) (*sim, job.RunID) {
	t.Helper()
	s := newBackfillSim(t, "0 * * * *")
	s.target["a"] = "broken"
	s.call(func() {
		q := s.backfillRequest(2)
		q.From -= 2 * 3600_000
		_, _ = s.engine.Backfill(context.Background(), q)
	})
	if dead := s.deadRuns(t, ""); len(dead) != 2 {
		t.Fatalf("%d runs are dead, want 2", len(dead))
	}
	return s, s.newest("a")
}

// deadRuns lists the dead runs of a job, or of all jobs.
func (s *sim) deadRuns(t *testing.T, name string) []RunView {
	t.Helper()
	page, err := s.engine.Runs(context.Background(), RunQuery{Tenant: "default", Job: name, Status: job.StatusDead, Limit: PageMax})
	if err != nil {
		t.Fatal(err)
	}
	return page.Runs
}

// dismiss dismisses a run in the name of a caller.
func (s *sim) dismiss(by string, id job.RunID, reason string) (v RunView, err error) {
	s.call(func() {
		v, err = s.engine.DismissRun(WithActor(context.Background(), job.Actor{By: by}), "default", id, reason)
	})
	return v, err
}

// TestDismiss: a dismissed run is in no list of dead runs and keeps its place in the history, with who dismissed it, when
// and why. A second dismissal changes nothing. A retry removes the mark, so the run is listed when it is dead again.
func TestDismiss(t *testing.T) {
	s, id := newDeadSim(t)
	first, err := s.dismiss("ann", id, "known")
	if want := (job.Dismissal{At: first.Dismissal.At, By: "ann", Reason: "known"}); err != nil || first.Status != job.StatusDead || first.Dismissal != want || want.At == 0 {
		t.Errorf("%+v (%v), want %+v", first, err, want)
	}
	commits := s.engine.Status().LSN
	if again, err := s.dismiss("bob", id, "again"); err != nil || again.Dismissal != first.Dismissal || s.engine.Status().LSN != commits {
		t.Errorf("dismissed twice: %+v (%v), want %+v and no commit", again.Dismissal, err, first.Dismissal)
	}
	for _, name := range []string{"", "a"} {
		if dead := s.deadRuns(t, name); len(dead) != 1 || dead[0].ID == id {
			t.Errorf("dead runs of %q: %+v, want the one that is not dismissed", name, dead)
		}
	}
	if n := s.engine.Status().Dismissed; n != 1 {
		t.Errorf("%d are counted, want 1", n)
	}
	s.call(func() { _, err = s.engine.RetryRun(context.Background(), "default", id) })
	if err != nil {
		t.Fatal(err)
	}
	if dead := s.deadRuns(t, ""); len(dead) != 2 || dead[0].ID != id || dead[0].Dismissal != (job.Dismissal{}) {
		t.Errorf("after a retry %+v are dead, want both without a mark", dead)
	}
}

// TestDismissRefused: only a dead run can be dismissed, and the code says how another one is.
func TestDismissRefused(t *testing.T) {
	s, id := newDeadSim(t)
	s.target["a"] = "ok"
	s.call(func() { _, _ = s.engine.RetryRun(context.Background(), "default", id) })
	if _, err := s.dismiss("ann", id, ""); apierr.From(err).Code != apierr.RunOver {
		t.Errorf("a run that succeeded: %v", err)
	}
	if _, err := s.dismiss("ann", id, strings.Repeat("x", job.ReasonBytesMax+1)); apierr.From(err).Code != apierr.TooLarge {
		t.Errorf("a long reason: %v", err)
	}
	s.target["a"] = "hang"
	live := s.deadRuns(t, "")[0].ID
	s.call(func() { _, _ = s.engine.RetryRun(context.Background(), "default", live) })
	if _, err := s.dismiss("ann", live, ""); apierr.From(err).Code != apierr.VersionConflict {
		t.Errorf("a live run: %v", err)
	}
	if _, err := s.dismiss("ann", job.RunID{Job: 99, At: 1}, ""); apierr.From(err).Code != apierr.NotFound {
		t.Errorf("no run: %v", err)
	}
}

// TestDismissNeedsNewRows: while a node of the cluster cannot read the mark, a dismissal is refused and changes nothing.
func TestDismissNeedsNewRows(t *testing.T) {
	s, id := newDeadSim(t)
	s.engine.opts.RowsMax = func(map[string]byte) (byte, string) { return job.RowsVersionOfDismissals - 1, "node-b" }
	if _, err := s.dismiss("ann", id, ""); err == nil || !strings.Contains(err.Error(), "node-b") {
		t.Errorf("%v, want a refusal that names node-b", err)
	}
	if dead := s.deadRuns(t, ""); len(dead) != 2 {
		t.Errorf("%d runs are dead, want 2", len(dead))
	}
	s.engine.opts.RowsMax = nil
	if _, err := s.dismiss("ann", id, ""); err != nil {
		t.Error(err)
	}
}

// TestDismissMany: the newest dead runs of a selection are dismissed, at most as many as asked for, and the answer says
// whether there may be more.
func TestDismissMany(t *testing.T) {
	s, id := newDeadSim(t)
	dismiss := func(q RunQuery) (n int, more bool, err error) {
		q.Tenant, q.Limit = "default", 1
		s.call(func() { n, more, err = s.engine.DismissDead(context.Background(), q, "known") })
		return n, more, err
	}
	if n, more, err := dismiss(RunQuery{To: id.At - 24*3600_000}); n != 0 || more || err != nil {
		t.Errorf("%d of another time, more: %t (%v)", n, more, err)
	}
	if n, more, err := dismiss(RunQuery{}); n != 1 || !more || err != nil {
		t.Errorf("%d, more: %t (%v); want 1 and more", n, more, err)
	}
	if dead := s.deadRuns(t, ""); len(dead) != 1 || dead[0].ID == id {
		t.Errorf("dead are %+v, want the older run", dead)
	}
	if n, _, err := dismiss(RunQuery{Job: "a"}); n != 1 || err != nil || len(s.deadRuns(t, "")) != 0 {
		t.Errorf("%d (%v), want the last", n, err)
	}
}

// TestDismissOvertaken: a dismissal, a retry and another dismissal that were prepared before a dismissal are stale after
// it, and so is a dismissal after a retry. Each is then prepared again, from the rows as they are.
func TestDismissOvertaken(t *testing.T) {
	ctx := context.Background()
	for _, first := range []string{"dismissal", "retry"} {
		s, id := newDeadSim(t)
		s.target["a"] = "hang"
		dismissal, retry := &core.DismissRun{Tenant: "default"}, &core.RetryRun{Tenant: "default"}
		if err := errors.Join(s.engine.readDismissal(ctx, dismissal, id), s.engine.readRetry(ctx, retry, id)); err != nil {
			t.Fatal(err)
		}
		var err error
		if first == "retry" {
			s.call(func() { _, err = s.engine.RetryRun(ctx, "default", id) })
		} else {
			_, err = s.dismiss("ann", id, "")
		}
		s.propose(dismissal)
		s.propose(retry)
		if err != nil || !errors.Is(dismissal.Err, core.ErrStale) || !errors.Is(retry.Err, core.ErrStale) {
			t.Errorf("after a %s (%v): the dismissal gets %v, the retry %v; want both stale", first, err, dismissal.Err, retry.Err)
		}
	}
}
