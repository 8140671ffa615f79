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

// testSender carries out attempts one by one, through the real dispatcher, and delivers their outcomes
// at times of the test's clock. Only the driver goroutine uses its fields, except spent.
type testSender struct {
	scheduler.Boundless // it needs no places: attempts not begun wait in the slice waiting

	dispatcher *dispatch.Dispatcher
	clock      *handClock

	waiting []testAttempt // launched and not begun, in the order of their launches
	current job.RunID     // the run of the present attempt
	pending []testOutcome // outcomes still to be delivered, in the order of their times
	spent   atomic.Int64  // by Test.Spend in the present attempt, in nanoseconds
}

// testAttempt is an attempt that is launched and not begun.
type testAttempt struct {
	delivery *job.Delivery
	done     func(job.Outcome)
}

// testOutcome is an outcome that is still to be delivered.
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

// carryOut carries out the first waiting attempt, and reports whether there was one. While the handler
// runs, the hand answers the requests that it makes.
func (s *testSender) carryOut(hand *scheduler.ManualDriver) bool {
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
		_ = hand.Answer() // cannot fail: the log is in memory
	}
	s.current = job.RunID{}
	s.end(a, o)
	return true
}

// await reserves a place for an attempt. A place is free at once, unless handlers still run whose
// timeout has passed.
func (s *testSender) await(hand *scheduler.ManualDriver, d *job.Delivery) {
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
			_ = hand.Answer() // cannot fail: the log is in memory
		}
	}
}

// end inserts the outcome of an attempt into pending, at its time.
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
		return -1 // after the outcomes of the same time
	})
	s.pending = slices.Insert(s.pending, place, p)
}

// land delivers the outcomes whose time has come.
func (s *testSender) land() {
	now := s.clock.Now()
	for len(s.pending) > 0 && !s.pending[0].at.After(now) {
		p := s.pending[0]
		s.pending = s.pending[1:]
		p.done(p.outcome)
	}
}

// next returns the earlier of the engine's next instant with work and the next outcome; the zero time
// means never.
func (s *testSender) next(engine time.Time) time.Time {
	if len(s.pending) > 0 && (engine.IsZero() || s.pending[0].at.Before(engine)) {
		return s.pending[0].at
	}
	return engine
}

// forget drops all attempts, as a crash does.
func (s *testSender) forget() { s.waiting, s.pending = nil, nil }
