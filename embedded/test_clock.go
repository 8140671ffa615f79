package embedded

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"sync/atomic"
	"time"

	"github.com/carillon-io/carillon/job"
	"github.com/carillon-io/carillon/scheduler"
)

// Test is a [Scheduler] in memory whose clock the test moves. What the program under test needs of it is
// the Scheduler in it. It is the very engine, with its decisions, retries, policies and checks; the thread
// that launches on time, the log and the store are replaced.
//
// Jobs are accepted at any time, and nothing is launched but by [Test.Advance]: every handler that is due is
// called, one after the other, in the order in which the runs are due, and has returned when Advance
// returns. The same calls give the same runs, with the same ids and fences. Web hooks are really sent, one
// at a time; a test gives them a server of its own.
//
// Limits: the clock stands while a handler is called, so that it takes no time but what [Test.Spend] says;
// and a handler that waits for the end of its context waits for the attempt's timeout in real time.
type Test struct {
	*Scheduler

	clock  *handClock
	memory *memory
	hand   *scheduler.Hand
	sender *testSender

	moving sync.Mutex // held by Advance
	moves  chan move
	wake   chan struct{} // of one place: there is a move
	stop   chan struct{}
	ended  chan struct{} // closed when the driver has ended
}

// move is something that the driver is to do. There is one at a time, and none after the driver's end.
type move struct {
	do   func() error
	done chan error
}

// firstTestJob is where the ids of jobs begin in a test, so that all that follows from them, such as jitter, is
// the same each time.
const firstTestJob = 1<<20 | 1

// NewTest opens an empty scheduler whose clock stands at start, cut to the millisecond. Of the options,
// CheckpointEvery means nothing, and Logger is silent unless it is set. Close ends it.
func NewTest(start time.Time, opts Options) (*Test, error) {
	if opts.Logger == nil {
		opts.Logger = slog.New(slog.DiscardHandler)
	}
	clock := new(handClock)
	clock.set(start)
	s, err := newScheduler(opts, clock)
	if err != nil {
		return nil, err
	}
	t := &Test{
		Scheduler: s, clock: clock, memory: newMemory(), sender: &testSender{dispatcher: s.dispatcher, clock: clock},
		moves: make(chan move, 1), wake: make(chan struct{}, 1), stop: make(chan struct{}), ended: make(chan struct{}),
	}
	s.closeWith = t.takeDown
	var b job.Batch
	scheduler.NumberJobs(&b, firstTestJob)
	err = t.memory.Apply(job.Position{}, b.Bytes())
	if err == nil {
		err = t.open()
	}
	if err != nil {
		close(t.ended)
		return nil, errors.Join(err, t.Close())
	}
	go t.drive()
	return t, nil
}

// open makes an engine from what the memory holds.
func (t *Test) open() error {
	if err := t.openEngine(t.memory, t.memory, t.sender); err != nil {
		return err
	}
	t.hand = t.engine.ByHand()
	return nil
}

// Now returns what the clock shows.
func (t *Test) Now() time.Time { return t.clock.Now() }

// Advance moves the clock on by d, and launches all that is due on the way, each at its time. With 0 it
// launches what is due now, such as a run that was triggered. It panics if d is negative, and if it is called
// while another Advance is under way, as from a handler.
func (t *Test) Advance(d time.Duration) {
	if d < 0 {
		panic(fmt.Sprintf("embedded: Advance(%s): the clock of a test goes forward only", d))
	}
	to := t.Now().Add(d)
	t.command("Advance", func() error { return t.moveTo(to) })
}

// AdvanceTo is [Test.Advance] to an instant, which must not have passed.
func (t *Test) AdvanceTo(to time.Time) { t.Advance(to.Sub(t.Now())) }

// Crash ends the scheduler as kill -9 ends a program, and starts it again after a time of the clock in
// which nothing was running. Attempts that [Test.Spend] keeps going are lost, and their runs launched
// again; what was missed is decided as each job's policy says. The next Advance launches it.
func (t *Test) Crash(down time.Duration) {
	if down < 0 {
		panic(fmt.Sprintf("embedded: Crash(%s): the clock of a test goes forward only", down))
	}
	t.command("Crash", func() error {
		err := t.hand.Close()
		t.sender.forget()
		t.clock.set(t.Now().Add(down))
		return errors.Join(err, t.open())
	})
}

// command lets the driver do something, and waits for it.
func (t *Test) command(name string, do func() error) {
	if !t.moving.TryLock() {
		panic("embedded: " + name + " was called while the clock is moved already, by a handler or by another goroutine")
	}
	defer t.moving.Unlock()
	m := move{do: do, done: make(chan error, 1)}
	select {
	case <-t.ended:
		panic("embedded: " + name + " was called after Close")
	case t.moves <- m:
	}
	select {
	case t.wake <- struct{}{}:
	default: // the driver wakes in any case
	}
	if err := <-m.done; err != nil {
		panic(fmt.Sprintf("embedded: %s: %v", name, err)) // memory does not fail
	}
}

// Spend makes the attempt that is being carried out last d longer, on the test's clock: its outcome comes so
// much later, and if that is beyond the attempt's timeout, the attempt fails then. It is for handlers, and
// does nothing elsewhere.
func (t *Test) Spend(d time.Duration) { t.sender.spent.Add(int64(max(0, d))) }

// Close ends the test's scheduler.
func (t *Test) Close() error { return t.Scheduler.Close(context.Background()) }

func (t *Test) takeDown(ctx context.Context) error {
	select {
	case <-t.ended: // it never began
	default:
		t.moving.Lock() // nobody moves the clock any more
		defer t.moving.Unlock()
		close(t.stop)
		<-t.ended
	}
	err := t.dispatcher.Close(ctx)
	t.door.shut()
	return err
}

// drive is the goroutine that works the engine.
func (t *Test) drive() {
	defer close(t.ended)
	defer func() { _ = t.hand.Close() }()
	for {
		t.hand.Wait(t.stop, t.wake)
		select {
		case <-t.stop:
			return
		case m := <-t.moves:
			m.done <- m.do()
			continue
		default:
		}
		t.fail(t.hand.Answer())
	}
}

// moveTo moves the clock from one thing to do to the next.
func (t *Test) moveTo(end time.Time) error {
	for {
		if err := t.rest(); err != nil {
			return err
		}
		next := t.sender.next(t.hand.Next())
		if next.IsZero() || next.After(end) {
			next = end
		}
		if !next.After(t.Now()) {
			return nil
		}
		t.clock.set(next)
	}
}

// rest does what there is to do at this instant.
func (t *Test) rest() error {
	for {
		t.sender.land()
		if err := t.hand.Settle(); err != nil {
			return err
		}
		if !t.sender.carryOut(t.hand) {
			return nil
		}
	}
}

// handClock implements scheduler.Clock with a time that somebody sets.
type handClock struct{ millis atomic.Int64 }

// Now implements scheduler.Clock.
func (c *handClock) Now() time.Time { return time.UnixMilli(c.millis.Load()).UTC() }

func (c *handClock) set(to time.Time) { c.millis.Store(to.UnixMilli()) }
