package scheduler

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/carillon-io/carillon/instant"
	"github.com/carillon-io/carillon/job"
	"github.com/carillon-io/carillon/schedule"
	"github.com/carillon-io/carillon/scheduler/core"
	"github.com/carillon-io/carillon/testkit"
)

// herdOf registers n one-shots for one instant, changed as the test wants them, a second from now.
func herdOf(s *sim, n int, change func(*job.Definition)) {
	var puts []core.Proposal
	for i := range n {
		def := job.Defaults()
		def.Tenant, def.Name, def.Target = "default", fmt.Sprintf("j%05d", i), job.Target{Kind: job.TargetNATS, Subject: "s"}
		def.Schedule = "@at " + s.now.Add(time.Second).Format(time.RFC3339)
		change(&def)
		puts = append(puts, must(s.engine.prepare(&def)))
	}
	s.proposeAll(puts...)
}

// proposeAll lets one caller propose many things, over as many steps as they take.
func (s *sim) proposeAll(proposals ...core.Proposal) {
	s.begin()
	s.gather.add(newTicket(proposals...))
	s.finish()
	for s.gather.isWaiting() {
		s.step()
	}
}

// failures returns the steps that failed.
func (s *sim) failures() (list []string) {
	for _, e := range s.events {
		if strings.Contains(e, " failed: ") {
			list = append(list, e)
		}
	}
	return list
}

// TestManyDeadlinesAtOnce: the workers of 20,000 runs are silent, and all deadlines pass in one instant, while
// the engine is there or is not. Each run ends, and no commit outgrows the log.
func TestManyDeadlinesAtOnce(t *testing.T) {
	testkit.NotUnderRace(t, drivenByHand)
	for _, crash := range []bool{false, true} {
		t.Run(fmt.Sprintf("crash=%t", crash), func(t *testing.T) {
			const n = 20_000
			s := newSim(t, time.Date(2026, 1, 5, 12, 0, 0, 0, time.UTC), Settings{})
			herdOf(s, n, func(d *job.Definition) {
				d.Completion, d.AttemptTimeout, d.Retry.MaxAttempts = job.CompletionReported, 30*time.Second, 1
			})
			s.advance(2 * time.Second)
			if used := s.engine.core.Reading().Reporting; used != n {
				t.Fatalf("%d runs wait for their workers, want %d", used, n)
			}
			if crash {
				s.now = s.now.Add(time.Hour)
				s.crash()
			}
			s.advance(time.Minute)
			if failed := s.failures(); len(failed) > 0 {
				t.Fatal(failed[0])
			}
			if c := s.engine.core.Reading(); c.Live != 0 || c.Counts.Dead != n {
				t.Errorf("%d runs are live and %d died; want 0 and %d", c.Live, c.Counts.Dead, n)
			}
		})
	}
}

// TestChangesOfManyRuns deletes, pauses and updates a job with thousands of runs that wait: between attempts with
// errors of the largest size, or for their time. No commit outgrows the log, and no run is left.
func TestChangesOfManyRuns(t *testing.T) {
	testkit.NotUnderRace(t, drivenByHand)
	const n = 8000
	change := map[string]func(s *sim, id job.ID) core.Proposal{
		"delete": func(s *sim, _ job.ID) core.Proposal {
			p := &core.Delete{Tenant: "default", Name: "j00000", Hash: s.hash("j00000")}
			if err := s.engine.readDeleting(p); err != nil {
				t.Fatal(err)
			}
			return p
		},
		"pause": func(s *sim, _ job.ID) core.Proposal {
			return &core.Pause{Tenant: "default", Name: "j00000", Hash: s.hash("j00000")}
		},
	}
	for name, propose := range change {
		t.Run(name, func(t *testing.T) {
			s := newSim(t, time.Date(2026, 1, 5, 12, 0, 0, 0, time.UTC), Settings{Lead: time.Minute})
			s.target["j00000"] = strings.Repeat("x", job.ErrorBytesMax)
			herdOf(s, 1, func(d *job.Definition) {
				d.Schedule, d.Overlap = "@every 10ms", job.OverlapAllow
				d.Retry = job.Retry{MaxAttempts: 9, InitialInterval: 24 * time.Hour, Multiplier: 1, MaxInterval: 24 * time.Hour}
			})
			s.advance(10 * n / 2 * time.Millisecond)
			before := s.engine.core.Live()
			if before < n {
				t.Fatalf("%d live runs, want %d", before, n)
			}
			s.proposeAll(propose(s, 0))
			if failed := s.failures(); len(failed) > 0 {
				t.Fatal(failed[0])
			}
			waiting := 0
			for _, l := range s.engine.core.Inspect().Live {
				if l.Attempt == 1 {
					waiting++
				}
			}
			if waiting > 0 || name == "delete" && s.engine.core.Live() > 0 {
				t.Errorf("of %d live runs %d are left, %d of them for their first attempt", before, s.engine.core.Live(), waiting)
			}
		})
	}
}

// TestLargestUnits writes the largest unit of each kind whose size its definition bounds: each fits a commit.
func TestLargestUnits(t *testing.T) {
	text := func(n int) string { return strings.Repeat("x", n) }
	def := job.Defaults()
	def.Tenant, def.Name = text(job.TenantBytesMax), text(job.NameBytesMax)
	def.Target = job.Target{Kind: job.TargetHTTP, URL: "https://h/" + text(job.URLBytesMax-10)}
	def.Payload, def.Description = make([]byte, job.PayloadBytesCeiling), text(job.DescriptionBytesMax)
	def.Headers = []job.Pair{{Key: "h", Value: text(job.HeadersBytesMax)}}
	for i := range job.LabelsMax {
		def.Labels = append(def.Labels, job.Pair{Key: fmt.Sprintf("%063d", i), Value: text(job.LabelValueBytesMax)})
	}
	for range schedule.ExpressionsMax {
		def.Schedules = append(def.Schedules, "0,1,2,3,4,5,6,7,8,9 * * * *")
	}
	s := newSim(t, time.Date(2026, 1, 5, 12, 0, 0, 0, time.UTC), Settings{Events: true})
	h := s.engine.hasher.hash(def.Tenant, def.Name)
	var id job.ID
	for range 2 {
		p := must(s.engine.prepare(&def))
		if err := s.engine.readPrior(p); err != nil {
			t.Fatal(err)
		}
		s.proposeAll(p)
		if p.Err != nil {
			t.Fatal(p.Err)
		}
		id = p.Stamp.ID
	}
	trigger := &core.Trigger{
		Tenant: def.Tenant, Name: def.Name, Hash: h, Payload: def.Payload, HasPayload: true,
		Key: text(job.IdempotencyKeyMax), AsOf: s.store.Applied().LSN,
	}
	s.proposeAll(trigger)
	backfill := &core.Backfill{Tenant: def.Tenant, Name: def.Name, Hash: h, ID: id, Repeat: true, At: make([]instant.Millis, BackfillMax)}
	for i := range backfill.At {
		backfill.At[i] = instant.Of(s.now) - instant.Millis(i+1)
	}
	s.proposeAll(backfill)
	if failed := s.failures(); len(failed) > 0 || trigger.Err != nil || backfill.Err != nil {
		t.Error(failed, trigger.Err, backfill.Err)
	}
}

// TestUpdateOverManySteps: an update has more launches to end than a step has room for. What is decided for the job
// meanwhile leaves neither before it nor before older launches that the update keeps.
func TestUpdateOverManySteps(t *testing.T) {
	s := newSim(t, time.Date(2026, 1, 5, 12, 0, 0, 0, time.UTC), Settings{Lead: 10 * time.Second})
	s.target["j00000"] = "hang"
	herdOf(s, 1, func(d *job.Definition) { d.Schedule, d.Overlap = "@every 10ms", job.OverlapBufferAll })
	s.advance(time.Second) // one run is going, the others wait for its turn or their time
	s.engine.core.Limit(core.Limits{CommitBytes: 2 << 10})
	def := job.Defaults()
	def.Tenant, def.Name, def.Target = "default", "j00000", job.Target{Kind: job.TargetNATS, Subject: "s"}
	def.Schedule, def.Overlap = "@every 20ms", job.OverlapBufferAll // has no tick of the old one: it begins anew
	p := must(s.engine.prepare(&def))
	if err := s.engine.readPrior(p); err != nil {
		t.Fatal(err)
	}
	s.begin()
	s.gather.add(newTicket(p))
	steps := 0
	for ; s.gather.isWaiting(); steps++ {
		s.finish()
		if on := s.engine.pad.Count(0).Waiting; s.gather.isWaiting() && on != 0 {
			t.Fatalf("after step %d of the update %d launches of the job are on the pad", steps+1, on)
		}
		s.now = s.now.Add(20 * time.Millisecond) // further ticks of the old schedule come due within the lead
		s.begin()
	}
	if p.Err != nil || steps < 3 {
		t.Errorf("the update took %d steps (%v), want some", steps, p.Err)
	}
	if failed := s.failures(); len(failed) > 0 {
		t.Error(failed[0])
	}
}
