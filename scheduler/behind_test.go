package scheduler

import (
	"testing"
	"time"

	"github.com/carillon-io/carillon/instant"
	"github.com/carillon-io/carillon/job"
	"github.com/carillon-io/carillon/scheduler/core"
)

// TestBehind: an undecided tick counts as behind as soon as its time has passed, even if no step comes. The next step
// makes up for it.
func TestBehind(t *testing.T) {
	start := time.Date(2026, 1, 5, 12, 0, 0, 0, time.UTC)
	s := &story{sim: newSim(t, start, Settings{})}
	s.putAny(&job.Definition{
		Tenant: "a", Name: "x", Schedule: "@every 10s", Completion: job.CompletionDelivered,
		Target: job.Target{Kind: job.TargetNATS, Subject: "x"},
	})
	if st := s.engine.Status(); st.Behind != 0 || st.JobsBy[JobActive] != 1 {
		t.Errorf("a new job: %s behind, jobs %v", st.Behind, st.JobsBy)
	}
	due := s.engine.core.Reading().Undecided.Time()
	s.now = due.Add(3 * time.Second) // the loop is stuck
	if st := s.engine.Status(); st.Behind != 3*time.Second {
		t.Errorf("%s behind, want 3s", st.Behind)
	}
	close(s.engine.stopping)
	if st := s.engine.Status(); st.Behind != 0 {
		t.Errorf("an engine that has ended is %s behind; want 0, for it decides nothing any more", st.Behind)
	}
}

// TestSince: an instant was its distance ago, and one that is to come, or that is none, was not.
func TestSince(t *testing.T) {
	now := instant.Millis(4500).Time()
	for at, want := range map[instant.Millis]time.Duration{4000: 500 * time.Millisecond, 5000: 0, 0: 0} {
		if got := since(at, now); got != want {
			t.Errorf("%d was %s ago, want %s", at, got, want)
		}
	}
}

// TestReportAwaited: of several reports the one that is awaited longest counts, until it comes; a crash does
// not make it younger.
func TestReportAwaited(t *testing.T) {
	start := time.Date(2026, 1, 5, 12, 0, 0, 0, time.UTC)
	s := &story{sim: newSim(t, start, Settings{})}
	for i, at := range []string{"@at 2026-01-05T12:00:20Z", "@at 2026-01-05T12:00:05Z"} {
		d := job.Defaults()
		d.Tenant, d.Name, d.Schedule = tenantOf(storyJob(i)), storyJob(i), at
		d.Completion, d.AttemptTimeout, d.Target = job.CompletionReported, time.Hour, job.Target{Kind: job.TargetNATS, Subject: "x"}
		s.putAny(&d)
	}
	waited := func(want time.Duration) {
		t.Helper()
		if got := s.engine.Status().ReportWaited; got < want-500*time.Millisecond || got > want+500*time.Millisecond {
			t.Errorf("a report has been awaited for %s, want about %s", got, want)
		}
	}
	s.advance(time.Second)
	waited(0)
	s.advance(34 * time.Second) // 12:00:35
	waited(30 * time.Second)
	s.crash()
	if err := s.engine.core.Check(); err != nil {
		t.Error(err)
	}
	waited(30 * time.Second)
	first := s.given[storyJob(1)]
	s.propose(&core.Report{Run: first.Run, Fence: first.Fence})
	s.advance(5 * time.Second) // 12:00:40
	waited(20 * time.Second)
}
