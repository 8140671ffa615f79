package embedded

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"sync/atomic"
	"time"

	"github.com/carillon-io/carillon/client"
	"github.com/carillon-io/carillon/dispatch"
	"github.com/carillon-io/carillon/scheduler"
	"github.com/carillon-io/carillon/shard"
)

// Scheduler is a running scheduler inside the program. It embeds a [client.Client] of itself, whose
// methods register jobs and read runs. All its methods are safe for concurrent use.
type Scheduler struct {
	*client.Client

	opts       Options
	clock      scheduler.Clock
	dispatcher *dispatch.Dispatcher
	shard      *shard.Shard // nil in a test, whose engine is driven by hand
	door       door
	handling   atomic.Int64 // number of calls of handlers under way

	dir    *directory
	failed chan error // receives the first failure of any part

	closeWith func(context.Context) error // closes the parts that newScheduler or NewTest opened
	closeOnce sync.Once
	closed    chan struct{}
	closeErr  error
}

// Open opens a data directory, creates it if it does not exist, recovers its jobs and runs, and begins
// to launch what is due. The error is [ErrInUse] if the directory is already open. If a file is damaged,
// the error names it. After an error nothing is left running.
func Open(dir string, opts Options) (*Scheduler, error) {
	if dir == "" {
		return nil, errors.New("embedded: open: the name of the directory is empty")
	}
	s, err := newScheduler(opts, scheduler.SystemClock{})
	if err != nil {
		return nil, err
	}
	s.closeWith = s.takeDown
	if err := s.open(dir); err != nil {
		_ = s.Close(context.Background()) // no launch has begun
		return nil, fmt.Errorf("embedded: open %s: %w", dir, err)
	}
	return s, nil
}

// newScheduler returns a Scheduler without an engine.
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

// open opens the directory and starts the engine. The caller closes the scheduler after an error.
func (s *Scheduler) open(dir string) (err error) {
	if s.dir, err = openDirectory(dir, s.opts.Logger, s.fail); err != nil {
		return err
	}
	engine, err := s.engineOptions(s.dispatcher)
	if err != nil {
		return err
	}
	s.shard = shard.New(shard.Options{
		Data: s.dir.Shard, CheckpointEvery: s.opts.CheckpointEvery, Engine: engine, OnFatal: s.fail, Logger: s.opts.Logger,
	})
	if err := s.shard.Open(context.Background()); err != nil {
		return err
	}
	if err := s.openDoor(s.shard.Engine(), engine.Settings.Zones); err != nil {
		return err
	}
	_, err = s.shard.Start(context.Background())
	return err
}

// engineOptions returns the options of an engine without a log and a store.
func (s *Scheduler) engineOptions(sender scheduler.Sender) (o scheduler.Options, err error) {
	zones, err := s.opts.zones()
	if err != nil {
		return o, err
	}
	return scheduler.Options{Sender: sender, Clock: s.clock, Logger: s.opts.Logger, Settings: s.opts.settings(zones)}, nil
}

// fail records the failure of a part and logs it. The program learns of it by Wait and must close the scheduler. It
// never blocks: failures beyond the buffer are only logged.
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

// Wait blocks until the scheduler fails, for example because its disk does, and returns the cause; or
// until it is closed, and returns nil. After a failure the scheduler launches and accepts nothing, and
// the program must end: all accepted jobs are there when its next start opens the directory. In this process the directory cannot be
// opened again if the store has failed, because operations that the disk refused still hold it.
func (s *Scheduler) Wait() error {
	select {
	case err := <-s.failed:
		return err
	case <-s.closed:
		return nil
	}
}

// Next returns the next ticks of a schedule, and the effect of clock changes on them.
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
	// cutTimeMax is the time that handlers have to return after their contexts have ended.
	cutTimeMax = time.Second
)

// Close stops launching, waits for running handlers until ctx ends (at most a minute), and flushes the
// store. Then it cancels the contexts of the handlers that still run, and gives them a second to return.
// Their attempts have no outcome, so their runs are launched again when the directory is opened again;
// the error names their number. A second Close waits for the first.
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

// takeDown closes the parts in the opposite order of their opening. The order keeps promises: the engine drains while
// outcomes can still be committed, the store closes after the last request that may read it. It also works for a
// scheduler that was opened only in part.
func (s *Scheduler) takeDown(ctx context.Context) error {
	var err error
	if s.shard != nil {
		err = s.shard.Close(ctx)
	}
	err = errors.Join(err, s.dispatcher.Close(ctx))
	s.awaitHandlers()
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
		s.opts.Logger.Warn("handlers still run although their contexts have ended", slog.Int64("calls", n))
	}
}
