package pad

import (
	"runtime"
	"sync/atomic"
	"testing"
	"time"

	"github.com/carillon-io/carillon/instant"
	"github.com/carillon-io/carillon/job"
)

// TestIdleTicksWakeTogether: whenever a tick goes to sleep, it looks again within IdleMax, at an instant that all ticks
// share and that is no whole second.
func TestIdleTicksWakeTogether(t *testing.T) {
	start := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	for past := time.Duration(0); past < 2*time.Second; past += 7 * time.Millisecond {
		now := start.Add(past)
		p := New(Options{Now: func() time.Time { return now }})
		wait := p.untilDue(now)
		if wait <= 0 || wait > IdleMax {
			t.Fatalf("at %s it sleeps for %s; want at most %s", now, wait, IdleMax)
		}
		if at := now.Add(wait).Sub(start) % IdleMax; at != IdleMax/2 {
			t.Fatalf("at %s it sleeps until %s after a look of the others", now, at)
		}
	}
}

// slowSender is a heldSender whose launches take time.
type slowSender struct {
	heldSender
	pass func()
}

// Launch implements Sender.
func (s *slowSender) Launch(d *job.Delivery, done func(job.Outcome)) {
	s.heldSender.Launch(d, done)
	s.pass()
}

// TestTickWakesWhenDue: after launches that took some time, the tick sleeps until the next one is due, and not until as much sooner.
func TestTickWakesWhenDue(t *testing.T) {
	now := instant.Millis(10_000).Time()
	sender := &slowSender{pass: func() { now = now.Add(300 * time.Microsecond) }}
	p := New(Options{Sender: sender, Report: func(job.Outcome, bool) {}, Now: func() time.Time { return now }})
	launchAt(p, 1, 10_001)
	launchAt(p, 1, 10_005)
	for range 2 {
		for _, w := range first(p.unreadChunk(10_000, nil)) {
			p.ready(w, &job.Delivery{Run: w.Run, Attempt: 1}, nil, 10_000)
		}
	}
	now = now.Add(time.Millisecond)
	s := &seat{pad: p}
	round([]*seat{s}, nil)
	if want := instant.Millis(10_005).Time(); len(sender.left) != 1 || !s.look.Equal(want) {
		t.Errorf("%d launches left, and the tick looks again at %s; want 1 and %s", len(sender.left), s.look, want)
	}
}

// wakingSender wakes a goroutine with each launch, as a dispatcher does, and counts the readings of the clock until that runs.
type wakingSender struct {
	sender
	reads atomic.Int64
	woken chan int64 // the readings until the launch
}

// Launch implements Sender.
func (s *wakingSender) Launch(*job.Delivery, func(job.Outcome)) { s.woken <- s.reads.Load() }

// TestWhatALaunchWakesRunsFirst: on one P, a goroutine that a launch wakes runs before the tick goes to sleep. The Go scheduler may
// prefer the tick now and then, so that half of the launches have to show it.
func TestWhatALaunchWakesRunsFirst(t *testing.T) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(1))
	const launches = 40
	s := &wakingSender{woken: make(chan int64, launches)}
	p, _ := servedBy(t, Options{Sender: s, Ticks: NewTicks(1), Now: func() time.Time { s.reads.Add(1); return time.Now() }})
	for i := range launches {
		launchAt(p, job.ID(i), instant.Of(time.Now().Add(time.Duration(200+3*i)*time.Millisecond)))
	}
	early := 0
	for range launches {
		if at := <-s.woken; s.reads.Load() <= at+1 { // the tick reads the clock after the launches, and again before it sleeps
			early++
		}
	}
	if early < launches/2 {
		t.Errorf("%d of %d goroutines ran before the tick slept", early, launches)
	}
}
