package embedded

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"math"
	"sync"
	"sync/atomic"
	"time"

	"github.com/carillon-io/carillon/job"
	"github.com/carillon-io/carillon/memory"
	"github.com/carillon-io/carillon/scheduler"
)

// Test is a [Scheduler] in memory whose clock the test moves. The program under test uses its field
// Scheduler. It has the real engine with its decisions, retries, policies and checks; only the thread
// that launches on time, the log and the store are replaced.
//
// Jobs are accepted at any time, but only [Test.Advance] launches: it calls every handler that is due,
// one after another, in the order in which the runs are due, and all of them have returned when Advance
// returns. The same calls give the same runs, with the same ids and fences. Web hooks are really sent,
// one at a time, so a test that uses them runs a server for them.
//
// Limits: the clock stands still while a handler runs, so a handler takes no time except what it passes
// to [Test.Spend]. A handler that waits for the end of its context waits for the attempt's timeout in
// real time.
type Test struct {
	*Scheduler

	clock  *handClock
	log    memory.Log
	store  memory.Store
	hand   *scheduler.ManualDriver
	sender *testSender

	moving sync.Mutex // held by Advance
	moves  chan move
	wake   chan struct{} // holds a token when there is a move
	stop   chan struct{}
	ended  chan struct{} // closed when the driver has ended
}

// move is a request to the driver goroutine. There is at most one at a time, and none after the driver
// has ended.
type move struct {
	do   func() error
	done chan error
}

// testIDsFrom is where the ids of the jobs of a test begin. It is fixed, so that everything that depends on
// ids, such as jitter, is the same in each run of the test.
const testIDsFrom = 1 << 28

// NewTest opens an empty scheduler whose clock stands at start, rounded down to the millisecond. It
// ignores the option CheckpointEvery, and its default Logger discards everything. A start before 1970 is an error. The caller
// must call Close.
func NewTest(start time.Time, opts Options) (*Test, error) {
	if start.UnixMilli() < 0 {
		return nil, fmt.Errorf("embedded: a test that starts at %s; want 1970 or later", start.Format(time.RFC3339))
	}
	if opts.Logger == nil {
		opts.Logger = slog.New(slog.DiscardHandler)
	}
	clock := new(handClock)
	clock.set(start.Truncate(time.Millisecond))
	s, err := newScheduler(opts, clock)
	if err != nil {
		return nil, err
	}
	t := &Test{
		Scheduler: s, clock: clock, sender: &testSender{dispatcher: s.dispatcher, clock: clock},
		moves: make(chan move, 1), wake: make(chan struct{}, 1), stop: make(chan struct{}), ended: make(chan struct{}),
	}
	s.closeWith = t.takeDown
	var b job.Batch
	scheduler.NumberJobs(&b, testIDsFrom)
	err = t.store.Apply(job.Position{}, b.Bytes())
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

// open makes an engine from the rows in memory.
func (t *Test) open() error {
	o, err := t.engineOptions(t.sender)
	if err != nil {
		return err
	}
	o.Log, o.Store = &t.log, &t.store
	engine, err := scheduler.Open(o)
	if err != nil {
		return err
	}
	t.hand = engine.DriveManually()
	return t.openDoor(engine, o.Settings.Zones)
}

// Now returns the time of the test's clock.
func (t *Test) Now() time.Time { return t.clock.Now() }

// Advance moves the clock forward by d, any number of nanoseconds, and launches each run that is due on the way, at its time. With 0
// it launches what is due now, such as a run that was triggered. It panics if d is negative, or if
// another Advance is under way, as when a handler calls it.
func (t *Test) Advance(d time.Duration) {
	if d < 0 {
		panic(fmt.Sprintf("embedded: Advance(%s): the clock of a test goes forward only", d))
	}
	to := t.Now().Add(d)
	t.command("Advance", func() error { return t.moveTo(to) })
}

// AdvanceTo is [Test.Advance] to an instant. It panics if the clock is already after it.
func (t *Test) AdvanceTo(to time.Time) { t.Advance(to.Sub(t.Now())) }

// Crash ends the scheduler as kill -9 does, and starts it again after down, a time of the clock in which
// nothing runs. Attempts that last by [Test.Spend] are lost, and their runs are launched again. Ticks
// that were missed are decided by each job's policy. The next Advance launches both.
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

// command makes the driver goroutine call do, and waits until it has.
func (t *Test) command(name string, do func() error) {
	if !t.moving.TryLock() {
		panic("embedded: " + name + " was called while another call moves the clock, by a handler or by another goroutine")
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
	default: // a token is there already, so the driver wakes
	}
	if err := <-m.done; err != nil {
		panic(fmt.Sprintf("embedded: %s: %v", name, err)) // memory does not fail
	}
}

// Spend makes the present attempt last d longer on the test's clock: its outcome comes that much later.
// If this exceeds the attempt's timeout, the attempt fails at the timeout. Handlers call it; at other
// times it has no effect. Several calls add up, at most to the longest Duration. It panics if d is negative.
func (t *Test) Spend(d time.Duration) {
	if d < 0 {
		panic(fmt.Sprintf("embedded: Spend(%s): the clock of a test goes forward only", d))
	}
	for spent := &t.sender.spent; ; {
		was := spent.Load()
		if spent.CompareAndSwap(was, was+min(int64(d), math.MaxInt64-was)) {
			return
		}
	}
}

// Close closes the test's scheduler.
func (t *Test) Close() error { return t.Scheduler.Close(context.Background()) }

// takeDown ends the driver before the dispatcher, because only the driver may use the engine.
func (t *Test) takeDown(ctx context.Context) error {
	select {
	case <-t.ended: // the driver has ended, or never began
	default:
		t.moving.Lock() // waits for a move under way, and prevents further ones
		defer t.moving.Unlock()
		close(t.stop)
		<-t.ended
	}
	err := t.dispatcher.Close(ctx)
	t.door.shut()
	return err
}

// drive is the driver goroutine: the only one that runs the engine.
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

// moveTo moves the clock to end, in steps from one instant with work to the next.
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

// rest does all work of the present instant.
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

// handClock implements scheduler.Clock with a time that the driver sets. It keeps what is less than a millisecond, so that many
// short moves are a long one.
type handClock struct{ now atomic.Pointer[time.Time] }

// Now implements scheduler.Clock.
func (c *handClock) Now() time.Time { return *c.now.Load() }

func (c *handClock) set(to time.Time) {
	to = to.UTC().Round(0)
	c.now.Store(&to)
}
