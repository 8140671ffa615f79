package embedded

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"sync/atomic"
	"time"

	"github.com/carillon-io/carillon/api"
	"github.com/carillon-io/carillon/client"
	"github.com/carillon-io/carillon/dispatch"
	"github.com/carillon-io/carillon/scheduler"
)

// Scheduler is a running Carillon inside the program. It is a client of itself: its methods are those of
// [client.Client], and safe for concurrent use, as is the rest.
type Scheduler struct {
	*client.Client

	opts       Options
	clock      scheduler.Clock
	dispatcher *dispatch.Dispatcher
	engine     *scheduler.Engine
	door       door
	handling   atomic.Int64 // calls of handlers under way

	dir        *directory
	stopEngine context.CancelFunc
	stopKeeper context.CancelFunc
	background sync.WaitGroup
	failed     chan error // first failure of any part

	closeWith func(context.Context) error // takes down what was put up
	closeOnce sync.Once
	closed    chan struct{}
	closeErr  error
}

// Open opens a data directory, made if it is not there, recovers what it holds, and begins to launch
// what is due. The error is [ErrInUse] if somebody has the directory open; it says which file is at fault
// if one does not verify. After an error nothing is left running.
func Open(dir string, opts Options) (*Scheduler, error) {
	s, err := newScheduler(opts, scheduler.SystemClock{})
	if err != nil {
		return nil, err
	}
	s.closeWith = s.takeDown
	if err := s.open(dir); err != nil {
		_ = s.Close(context.Background()) // nothing of it has begun
		return nil, fmt.Errorf("embedded: open %s: %w", dir, err)
	}
	return s, nil
}

// newScheduler returns one without an engine.
func newScheduler(opts Options, clock scheduler.Clock) (*Scheduler, error) {
	opts = opts.withDefaults()
	if err := opts.validate(); err != nil {
		return nil, err
	}
	s := &Scheduler{opts: opts, clock: clock, failed: make(chan error, 8), closed: make(chan struct{})}
	out := opts.dispatch()
	out.Handlers = make(map[string]dispatch.Handler, len(opts.Handlers))
	for name, h := range opts.Handlers {
		out.Handlers[name] = s.guard(name, h)
	}
	var err error
	if s.Client, err = client.NewLocal(&s.door, client.Options{Tenant: opts.Tenant, By: opts.By}); err != nil {
		return nil, fmt.Errorf("embedded: options: %w", err)
	}
	if s.dispatcher, err = dispatch.New(out); err != nil {
		return nil, fmt.Errorf("embedded: options: %w", err)
	}
	return s, nil
}

func (s *Scheduler) open(dir string) (err error) {
	if s.dir, err = openDirectory(dir, s.opts.Logger, s.fail); err != nil {
		return err
	}
	if err := s.openEngine(s.dir.Log, s.dir.Store, s.dispatcher); err != nil {
		return err
	}
	engineCtx, stopEngine := context.WithCancel(context.Background())
	keeperCtx, stopKeeper := context.WithCancel(context.Background())
	s.stopEngine, s.stopKeeper = stopEngine, stopKeeper
	s.background.Go(func() { s.fail(s.engine.Serve(engineCtx)) })
	s.background.Go(func() { s.fail(s.dir.Keep(keeperCtx, s.opts.CheckpointEvery)) })
	return nil
}

// openEngine makes the engine, which does nothing yet, and lets requests in.
func (s *Scheduler) openEngine(log scheduler.Log, store scheduler.Store, sender scheduler.Sender) error {
	zones, err := s.opts.zones()
	if err != nil {
		return err
	}
	engine, err := scheduler.Open(scheduler.Options{
		Log: log, Store: store, Sender: sender, Clock: s.clock, Logger: s.opts.Logger, Settings: s.opts.settings(zones),
	})
	if err != nil {
		return err
	}
	s.engine = engine
	local, err := api.NewLocal(checkedEngine{engine, s.dispatcher}, api.Options{Version: "embedded", Rules: s.opts.rules(), Zones: zones, Logger: s.opts.Logger, Tracer: s.opts.Tracer})
	if err != nil {
		return err
	}
	s.door.set(local)
	return nil
}

// fail notes the failure of a part: the scheduler is to be closed.
func (s *Scheduler) fail(err error) {
	if err == nil {
		return
	}
	s.opts.Logger.Error("the scheduler has failed", slog.Any("error", err))
	select {
	case s.failed <- err:
	default:
	}
}

// Wait blocks until the scheduler fails, because its disk does, and returns why; or until it is closed: nil.
// After a failure nothing is launched and nothing accepted; what was accepted is there when the directory
// is opened again.
func (s *Scheduler) Wait() error {
	select {
	case err := <-s.failed:
		return err
	case <-s.closed:
		return nil
	}
}

// Next tells when a schedule would tick, and what changes of the clock do to it.
func (s *Scheduler) Next(ctx context.Context, request client.NextRequest) (client.NextReply, error) {
	if request.After.IsZero() {
		request.After = client.At(s.clock.Now())
	}
	return s.Client.Next(ctx, request)
}

// The bounds of what Close waits for.
const (
	// closeTimeMax bounds a Close whose context has no end of its own.
	closeTimeMax = time.Minute
	// cutTimeMax is how long handlers have to return when their contexts have ended.
	cutTimeMax = time.Second
)

// Close launches nothing more, gives the handlers until ctx ends to return, at most a minute, and leaves a
// checkpoint. Handlers that are still at work then have their contexts cancelled and a second to
// return; their attempts have no outcome, so that the runs are launched again when the directory is opened
// again. The error tells of those. A second Close waits for the first.
//
// A handler must not call Close.
func (s *Scheduler) Close(ctx context.Context) error {
	s.closeOnce.Do(func() {
		ctx, cancel := context.WithTimeout(ctx, closeTimeMax)
		defer cancel()
		s.closeErr = s.closeWith(ctx)
		close(s.closed)
	})
	<-s.closed
	return s.closeErr
}

// takeDown takes down what was put up, in the opposite order.
func (s *Scheduler) takeDown(ctx context.Context) error {
	if s.stopEngine != nil {
		s.engine.Drain(ctx)
		s.stopKeeper()
		s.stopEngine()
		<-s.engine.Done()
	}
	err := s.dispatcher.Close(ctx)
	s.awaitHandlers()
	s.background.Wait()
	s.door.shut()
	if s.dir != nil {
		err = errors.Join(err, s.dir.close())
	}
	return err
}

// awaitHandlers waits for handlers whose contexts have ended.
func (s *Scheduler) awaitHandlers() {
	poll := time.NewTicker(time.Millisecond)
	defer poll.Stop()
	for give := time.Now().Add(cutTimeMax); s.handling.Load() > 0 && time.Now().Before(give); {
		<-poll.C
	}
	if n := s.handling.Load(); n > 0 {
		s.opts.Logger.Warn("handlers go on although their contexts have ended", slog.Int64("calls", n))
	}
}
