package embedded

import (
	"fmt"
	"slices"
	"sync/atomic"
	"time"

	"github.com/carillon-io/carillon/dispatch"
	"github.com/carillon-io/carillon/job"
	"github.com/carillon-io/carillon/scheduler"
)

// testSender carries attempts out one by one, by the real dispatcher, and lets their outcomes come at the time
// of the test's clock. All but spent is the driver's.
type testSender struct {
	scheduler.Boundless // what it has not begun waits in its own line

	dispatcher *dispatch.Dispatcher
	clock      *handClock

	waiting []testAttempt // in the order of their launches
	current job.RunID     // is being carried out
	pending []testOutcome // in the order in which they come
	spent   atomic.Int64  // nanoseconds of the current attempt
}

// testAttempt is an attempt that was launched, and not begun.
type testAttempt struct {
	delivery *job.Delivery
	done     func(job.Outcome)
}

// testOutcome is an outcome that is still to come.
type testOutcome struct {
	at      time.Time
	outcome job.Outcome
	done    func(job.Outcome)
}

// Launch implements scheduler.Sender.
func (s *testSender) Launch(d *job.Delivery, done func(job.Outcome)) {
	s.waiting = append(s.waiting, testAttempt{d, done})
}

// Cancel implements scheduler.Sender.
func (s *testSender) Cancel(run job.RunID) {
	if run == s.current {
		s.dispatcher.Cancel(run)
		return
	}
	for i, a := range s.waiting {
		if a.delivery.Run == run {
			s.waiting = slices.Delete(s.waiting, i, i+1)
			a.done(job.Outcome{Run: run, Attempt: a.delivery.Attempt, Error: dispatch.ErrCancelled.Error()})
			return
		}
	}
	for i, p := range s.pending {
		if p.outcome.Run == run {
			s.pending = slices.Delete(s.pending, i, i+1)
			p.done(job.Outcome{
				Run: run, Attempt: p.outcome.Attempt, LaunchedAt: p.outcome.LaunchedAt,
				Duration: s.clock.Now().Sub(p.outcome.LaunchedAt), Error: dispatch.ErrCancelled.Error(),
			})
			return
		}
	}
}

// carryOut carries the attempt out whose turn it is, and tells whether there was one. Meanwhile the hand
// answers what the handler asks.
func (s *testSender) carryOut(hand *scheduler.Hand) bool {
	if len(s.waiting) == 0 {
		return false
	}
	a := s.waiting[0]
	s.waiting = s.waiting[1:]
	s.current = a.delivery.Run
	s.spent.Store(0)
	var o job.Outcome
	ended := make(chan struct{})
	s.await(hand, a.delivery)
	s.dispatcher.Launch(a.delivery, func(got job.Outcome) {
		o = got
		close(ended)
	})
	for going := true; going; {
		hand.Wait(ended, nil)
		select {
		case <-ended:
			going = false
		default:
		}
		_ = hand.Answer() // memory does not fail
	}
	s.current = job.RunID{}
	s.end(a, o)
	return true
}

// await takes a place for an attempt. There is one at once, unless handlers go on whose time is over.
func (s *testSender) await(hand *scheduler.Hand, d *job.Delivery) {
	called := make(chan struct{})
	if s.dispatcher.Reserve(d.Lane(), len(d.Payload), func() bool { close(called); return true }) {
		return
	}
	for {
		hand.Wait(called, nil)
		select {
		case <-called:
			return
		default:
			_ = hand.Answer() // memory does not fail
		}
	}
}

// end puts the outcome of an attempt at its place in the test's time.
func (s *testSender) end(a testAttempt, o job.Outcome) {
	now, spent := s.clock.Now(), time.Duration(s.spent.Swap(0)).Truncate(time.Millisecond)
	if !o.LaunchedAt.IsZero() {
		o.LaunchedAt = now
	}
	if most := a.delivery.Timeout; most > 0 && spent > most {
		spent = most
		o = job.Outcome{Run: o.Run, Attempt: o.Attempt, LaunchedAt: now, Error: fmt.Sprintf("no answer within %s", most)}
	}
	o.Duration = spent
	p := testOutcome{at: now.Add(spent), outcome: o, done: a.done}
	place, _ := slices.BinarySearchFunc(s.pending, p, func(have, p testOutcome) int {
		if have.at.After(p.at) {
			return 1
		}
		return -1 // behind those of the same time
	})
	s.pending = slices.Insert(s.pending, place, p)
}

// land tells the outcomes whose time has come.
func (s *testSender) land() {
	now := s.clock.Now()
	for len(s.pending) > 0 && !s.pending[0].at.After(now) {
		p := s.pending[0]
		s.pending = s.pending[1:]
		p.done(p.outcome)
	}
}

// next returns when there is something to do next, if the engine has something at an instant; zero is never.
func (s *testSender) next(engine time.Time) time.Time {
	if len(s.pending) > 0 && (engine.IsZero() || s.pending[0].at.Before(engine)) {
		return s.pending[0].at
	}
	return engine
}

// forget loses all attempts, as a crash does.
func (s *testSender) forget() { s.waiting, s.pending = nil, nil }
