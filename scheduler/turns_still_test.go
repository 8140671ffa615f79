package scheduler

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/carillon-io/carillon/instant"
	"github.com/carillon-io/carillon/job"
	"github.com/carillon-io/carillon/testkit"
)

// overlapPolicies are the policies that let one run of a job go at a time.
var overlapPolicies = map[string]func(*job.Definition){
	"skip":         func(d *job.Definition) { d.Overlap = job.OverlapSkip },
	"buffer_one":   func(d *job.Definition) { d.Overlap = job.OverlapBufferOne },
	"buffer_all":   func(d *job.Definition) { d.Overlap = job.OverlapBufferAll },
	"cancel_other": func(d *job.Definition) { d.Overlap = job.OverlapCancelOther },
	"allow":        func(d *job.Definition) { d.Overlap, d.MaxConcurrent = job.OverlapAllow, 1 },
}

// stillLog is a log whose commits wait while it is locked.
type stillLog struct {
	memLog
	mu sync.Mutex
}

// Append implements Log.
func (l *stillLog) Append(epoch uint64, batch []byte) (job.Position, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.memLog.Append(epoch, batch)
}

// shortSender has targets that take each run for a millisecond, and counts launches by job.
type shortSender struct {
	Boundless
	mu   sync.Mutex
	left map[string]int
}

// Cancel implements Sender.
func (*shortSender) Cancel(job.RunID) {}

// Launch implements Sender.
func (s *shortSender) Launch(d *job.Delivery, done func(job.Outcome)) {
	at := time.Now()
	s.mu.Lock()
	s.left[d.Name]++
	s.mu.Unlock()
	time.AfterFunc(time.Millisecond, func() {
		done(job.Outcome{Run: d.Run, Attempt: d.Attempt, LaunchedAt: at, Duration: time.Since(at)})
	})
}

func (s *shortSender) count(name string) int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.left[name]
}

// TestFiresWhileTheLogStandsStill stops the log of a real engine. What is decided goes on under every overlap policy:
// a run that has ended does not hold its turn until the log has it.
func TestFiresWhileTheLogStandsStill(t *testing.T) {
	const ticks = 20
	log, sender := &stillLog{}, &shortSender{left: make(map[string]int)}
	e := must(Open(Options{Log: log, Store: newMemStore(), Sender: sender, Settings: Settings{Lead: 8 * time.Second}}))
	ctx, cancel := context.WithTimeout(context.Background(), 30*time.Second)
	defer cancel()
	served := make(chan error, 1)
	go func() { served <- e.Serve(ctx) }()
	for name, set := range overlapPolicies {
		d := oneShot(name, 0)
		d.Schedule = "@every 100ms"
		set(d)
		if _, _, err := e.Put(ctx, d, nil); err != nil {
			t.Fatal(err)
		}
	}
	testkit.Until(t, "the ticks of six seconds are decided", func() bool { return e.Status().Scheduled >= 60*len(overlapPolicies) })
	log.mu.Lock()
	before := make(map[string]int)
	for name := range overlapPolicies {
		before[name] = sender.count(name)
	}
	still, end := context.WithTimeout(ctx, 6*time.Second)
	defer end()
	for name := range overlapPolicies {
		if !testkit.Poll(still, func() bool { return sender.count(name) >= before[name]+ticks }) {
			t.Errorf("%s did not fire %d times", name, ticks)
		}
	}
	log.mu.Unlock()
	e.Drain(ctx)
	left := 0
	for name := range overlapPolicies {
		left += sender.count(name)
	}
	if s := e.Status(); s.Succeeded+s.Cancelled != uint64(left) { // a slow machine may let runs overlap
		t.Errorf("%d runs left; %d succeeded and %d were cancelled, which is not all", left, s.Succeeded, s.Cancelled)
	}
	cancel()
	if err := <-served; err != nil {
		t.Error(err)
	}
}

// standStill lets a commit of the sim take that long: launches leave, and each target answers after a millisecond with
// the error that failure returns.
func (s *sim) standStill(length time.Duration, failure func(*job.Delivery) string) {
	for end := s.now.Add(length); s.now.Before(end); {
		for busy := true; busy; {
			read := s.pad.Take(instant.Of(s.now))
			s.pad.Read(read)
			_, more := s.pad.Launch(instant.Of(s.now))
			busy = read > 0 || more || s.pad.Wants()
		}
		s.now = s.now.Add(time.Millisecond)
		if flying, _ := s.engine.pad.Flying(); flying == 0 {
			continue
		}
		for name, flights := range s.flying {
			s.flying[name] = nil
			for _, f := range flights {
				f.end(failure(f.d), s.now)
			}
		}
	}
}

// stillStory has a job that ticks every 100 ms and a log that stands still for two seconds.
type stillStory struct {
	*sim
	ticks []instant.Millis // that came meanwhile
}

func newStillStory(t *testing.T, failure func(*job.Delivery) string, set func(*job.Definition)) *stillStory {
	start := time.Date(2026, 1, 5, 12, 0, 0, 0, time.UTC)
	s := &stillStory{sim: newSim(t, start, Settings{Lead: 5 * time.Second})}
	s.target["steady"] = "hang"
	s.putIn("steady", "@every 100ms", "", set)
	s.now = start.Add(100 * time.Millisecond) // the step decides one more
	for at := instant.Of(s.now); at < instant.Of(s.now)+2000; at += 100 {
		s.ticks = append(s.ticks, at)
	}
	s.log.tail = func(job.Position, []byte) {
		s.log.tail = nil
		s.standStill(1990*time.Millisecond, failure)
	}
	s.step()
	return s
}

// fired returns how many of the ticks were launched while the log stood still.
func (s *stillStory) fired() (n int) {
	for _, at := range s.ticks {
		if slices.ContainsFunc(s.left, func(r job.RunID) bool { return r.At == at }) {
			n++
		}
	}
	return n
}

// TestTurnsWhileTheLogStandsStill: a turn is free at the outcome that ends the run, and not before: a run that goes on
// after its attempt keeps its turn.
func TestTurnsWhileTheLogStandsStill(t *testing.T) {
	well := func(*job.Delivery) string { return "" }
	fails := func(*job.Delivery) string { return "broken" }
	cases := map[string]struct {
		failure func(*job.Delivery) string
		set     func(*job.Definition)
		fired   int
	}{
		"retries":  {fails, func(d *job.Definition) { d.Retry.InitialInterval = time.Hour; d.Retry.MaxInterval = time.Hour }, 1},
		"dies":     {fails, func(d *job.Definition) { d.Retry.MaxAttempts = 1 }, 20},
		"reported": {well, func(d *job.Definition) { d.Completion = job.CompletionReported; d.AttemptTimeout = time.Hour }, 1},
	}
	for name, set := range overlapPolicies {
		cases[name] = struct {
			failure func(*job.Delivery) string
			set     func(*job.Definition)
			fired   int
		}{well, set, 20}
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			s := newStillStory(t, c.failure, c.set)
			if n := s.fired(); n != c.fired {
				t.Errorf("%d of %d ticks fired, want %d", n, len(s.ticks), c.fired)
			}
			s.target["steady"] = "ok"
			s.advance(5 * time.Millisecond)
			if n := strings.Count(s.ledger("steady"), "(overlap)"); n != len(s.ticks)-c.fired {
				t.Errorf("%d ticks overlap, want %d:\n%s", n, len(s.ticks)-c.fired, s.ledger("steady"))
			}
		})
	}
}

// TestCrashWhileTheLogStandsStill: what fired while the log stood still and is not in it is launched again after a
// crash, under the same run ids, and none of it is skipped.
func TestCrashWhileTheLogStandsStill(t *testing.T) {
	for name, set := range overlapPolicies {
		t.Run(name, func(t *testing.T) {
			s := newStillStory(t, func(*job.Delivery) string { return "" }, set)
			if s.fired() != len(s.ticks) {
				t.Fatalf("%d of %d ticks fired", s.fired(), len(s.ticks))
			}
			s.target["steady"] = "ok"
			s.crash()
			s.advance(5 * time.Millisecond)
			for _, at := range s.ticks {
				launches := 0
				for _, r := range s.left {
					if r.At == at {
						launches++
					}
				}
				if want := fmt.Sprintf("%s succeeded", clock(at)); launches < 1 || launches > 2 || !strings.Contains(s.ledger("steady"), want) {
					t.Errorf("tick %s was launched %d times; the ledger is\n%s", clock(at), launches, s.ledger("steady"))
				}
			}
		})
	}
}
