package scheduler

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/carillon-io/carillon/instant"
	"github.com/carillon-io/carillon/job"
	"github.com/carillon-io/carillon/scheduler/core"
)

// newRetryStory has a job whose run of 12:00:10 failed and waits for its second attempt, at 12:00:21. The run of
// 12:00:20 cancels it. Ten jobs beside it have a run at the same instant, so that the outcomes need several commits.
func newRetryStory(t *testing.T) *sim {
	s := newSim(t, time.Date(2026, 1, 5, 12, 0, 0, 0, time.UTC), Settings{Lead: 5 * time.Second, CompletedRetention: -1})
	s.target["a"] = "broken"
	s.putIn("a", "@every 10s", "", func(d *job.Definition) {
		d.Overlap = job.OverlapCancelOther
		d.Retry.InitialInterval, d.Retry.MaxInterval, d.Retry.Jitter = 11*time.Second, 11*time.Second, 0
	})
	for n := range 10 {
		s.putIn(fmt.Sprintf("b%d", n), "@every 20s", "")
	}
	s.advance(15 * time.Second)
	if l := s.ledger("a"); !strings.HasPrefix(l, "12:00:10.000 retrying attempt=2") {
		t.Fatalf("the ledger is\n%s", l)
	}
	s.events = nil
	s.now = s.now.Add(5 * time.Second)
	s.launch()
	return s
}

// launch does what feeder and tick do at this instant, without a step.
func (s *sim) launch() {
	for busy := true; busy; {
		read := s.pad.Take(instant.Of(s.now))
		s.pad.Read(read)
		_, more := s.pad.Launch(instant.Of(s.now))
		busy = read > 0 || more || s.pad.Wants()
	}
}

// TestNoLaunchBehindACancellation: a step that cancels a run needs several commits, and the last takes long. The next
// attempt of the run comes due meanwhile, and does not leave: its end is durable.
func TestNoLaunchBehindACancellation(t *testing.T) {
	s := newRetryStory(t)
	s.engine.core.Limit(core.Limits{CommitBytes: 900})
	commits := 0
	s.log.tail = func(job.Position, []byte) {
		if commits++; commits == 2 {
			if l := s.ledger("a"); !strings.Contains(l, "12:00:10.000 cancelled (overlap) attempt=2") {
				t.Errorf("the first commit does not cancel the run:\n%s", l)
			}
			s.now = s.now.Add(2 * time.Second)
			s.launch()
		}
	}
	s.step()
	s.log.tail = nil
	if commits < 2 {
		t.Fatalf("%d commits; the test wants several", commits)
	}
	s.settle()
	for _, e := range s.events {
		if strings.Contains(e, "launch a at=12:00:10.000") {
			t.Errorf("after its cancellation: %s", e)
		}
	}
	if !slices.ContainsFunc(s.events, func(e string) bool { return strings.Contains(e, "launch a at=12:00:20.000") }) {
		t.Errorf("the run that cancelled it did not start:\n%s", s.drain())
	}
}

// TestRunEndsOnce deletes, pauses or changes a job when one of its runs has asked for the end of another, which waits
// for its next attempt: that one is withdrawn by the request, and ends once.
func TestRunEndsOnce(t *testing.T) {
	update := func(s *sim) core.Proposal {
		def := job.Defaults()
		def.Tenant, def.Name, def.Target = "default", "a", job.Target{Kind: job.TargetNATS, Subject: "out"}
		def.Schedule = "@every 1h"
		p := must(s.engine.prepare(&def))
		if err := s.engine.readPrior(p); err != nil {
			t.Fatal(err)
		}
		return p
	}
	for name, request := range map[string]func(s *sim) core.Proposal{
		"delete": func(s *sim) core.Proposal { return &core.Delete{Tenant: "default", Name: "a", Hash: s.hash("a")} },
		"pause":  func(s *sim) core.Proposal { return &core.Pause{Tenant: "default", Name: "a", Hash: s.hash("a")} },
		"put":    update,
	} {
		t.Run(name, func(t *testing.T) {
			s := newRetryStory(t)
			s.propose(request(s))
			if n := s.engine.Status().Cancelled; n != 1 {
				t.Errorf("%d runs were cancelled, want 1", n)
			}
			if name != "delete" && !strings.HasPrefix(s.ledger("a"), "12:00:10.000 cancelled (overlap) attempt=2") {
				t.Errorf("the ledger is\n%s", s.ledger("a"))
			}
			if err := s.engine.core.Check(); err != nil {
				t.Error(err)
			}
			s.advance(10 * time.Second)
			if n := len(s.engine.pad.Take(s.engine.core.IDOf(s.hash("a")))); name == "pause" && n != 0 {
				t.Errorf("%d launches are left on the pad", n)
			}
		})
	}
}

// TestDeleteBehindATrigger deletes a job in the step in which a run of it begins, or in which an attempt of it fails: no
// run is left.
func TestDeleteBehindATrigger(t *testing.T) {
	for name, fails := range map[string]bool{"trigger": false, "failure": true} {
		t.Run(name, func(t *testing.T) {
			s := newSim(t, time.Date(2026, 1, 5, 12, 0, 0, 0, time.UTC), Settings{CompletedRetention: -1})
			s.target["a"] = "broken"
			s.putIn("a", "@every 10s", "")
			list := []core.Proposal{&core.Delete{Tenant: "default", Name: "a", Hash: s.hash("a")}}
			if fails {
				s.advance(9900 * time.Millisecond)
				s.now = s.now.Add(100 * time.Millisecond)
				s.launch()
			} else {
				list = append([]core.Proposal{&core.Trigger{Tenant: "default", Name: "a", Hash: s.hash("a"), AsOf: s.store.Applied().LSN}}, list...)
			}
			s.proposeOnly(list...)
			if live := s.engine.core.Inspect().Live; len(live) > 0 {
				t.Errorf("live after the delete: %v", live)
			}
		})
	}
}
