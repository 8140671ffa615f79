package scheduler

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"sync/atomic"
	"time"

	"github.com/carillon-io/carillon/job"
)

// Options set up an engine. Log, Store and Sender are required; every other zero value is a default.
type Options struct {
	Log    Log
	Store  Store
	Sender Sender
	// Announcer publishes dead letters and events. Nil: none are kept for it.
	Announcer Announcer
	Clock     Clock        // default: SystemClock
	Logger    *slog.Logger // default: slog.Default()
	Shard     uint32       // number of this engine in its cluster

	// Settings of the core; see there. Defaults: Lead 250 ms, Grace 1 s, HistoryDays 90,
	// CompletedRetention 24 h (negative: for ever).
	Settings Settings

	// LiveMax is how many runs may be without an outcome; tenants share it. The ticks of a tenant that has its
	// share wait until runs of it end: they become late, none is lost. Default 1,000,000.
	LiveMax int
	// ProposalsMax is how many proposals may wait for their commit; more callers wait themselves.
	// Default 8,192.
	ProposalsMax int
	// Trust tells for how long, from now on, launches may leave; with 0 or less they wait on the pad until
	// it is back. It is asked before each batch of launches, from several goroutines, so it must be quick and
	// safe for that. Nil: always.
	Trust func() time.Duration
	// Feeders is how many goroutines read cold rows. Default 2.
	Feeders int
	// Loading is told now and then how many jobs are loaded, from the goroutine that opens the engine. Nil:
	// nobody is.
	Loading func(jobs uint64)
}

func (o Options) withDefaults() Options {
	if o.Clock == nil {
		o.Clock = SystemClock{}
	}
	if o.Logger == nil {
		o.Logger = slog.Default()
	}
	setDefault(&o.Settings.Lead, 250*time.Millisecond)
	setDefault(&o.Settings.Grace, time.Second)
	setDefault(&o.Settings.HistoryDays, 90)
	setDefault(&o.Settings.Zones, job.EmbeddedZones())
	setDefault(&o.Settings.CompletedRetention, 24*time.Hour)
	o.Settings.CompletedRetention = max(0, o.Settings.CompletedRetention)
	o.Settings.DeadLetters = o.Announcer != nil
	o.Settings.Events = o.Settings.Events && o.Announcer != nil
	setDefault(&o.LiveMax, 1_000_000)
	setDefault(&o.ProposalsMax, 8192)
	setDefault(&o.Feeders, 2)
	return o
}

func setDefault[T comparable](v *T, d T) {
	var zero T
	if *v == zero {
		*v = d
	}
}

func (o Options) validate() error {
	switch {
	case o.Log == nil || o.Store == nil || o.Sender == nil:
		return errors.New("scheduler: options: Log, Store and Sender are required")
	case o.Settings.Lead < 0 || o.Settings.Lead > time.Minute:
		return fmt.Errorf("scheduler: options: lead %s is out of range (0 to 1m)", o.Settings.Lead)
	case o.Settings.Grace < 0 || o.Settings.HistoryDays < 0 || o.Settings.CatchupRate < 0:
		return errors.New("scheduler: options: grace, history and catch-up rate must not be negative")
	case o.LiveMax < 1 || o.ProposalsMax < 1 || o.Feeders < 1:
		return errors.New("scheduler: options: LiveMax, ProposalsMax and Feeders must be positive")
	}
	return nil
}

// Engine is the thin shell around a [Core]: one loop that steps and commits, one thread that launches
// on time, a few goroutines that read ahead. Its methods are safe for concurrent use.
type Engine struct {
	opts   Options
	core   *Core
	hasher nameHasher
	pad    *pad
	alarm  *alarm // since it leads

	leads  atomic.Bool
	broken error // why it cannot follow any more

	proposals chan *ticket
	outcomes  outcomeQueue
	chores    chores
	gauge     gauge

	stopping  chan struct{} // closed when no proposal is taken any more
	stopOnce  sync.Once
	stopped   chan struct{} // closed when Serve has returned
	failure   error         // why the engine stopped, set before stopped closes
	startedAt time.Time
}

// Open loads the engine from its store, which must be level with its log, and commits the beginning
// of a new epoch. Nothing is launched before Serve. It is Follow and Lead.
func Open(opts Options) (*Engine, error) {
	e, err := Follow(opts)
	if err != nil {
		return nil, err
	}
	if err := e.Lead(); err != nil {
		return nil, err
	}
	return e, nil
}

// padHorizon is how long before its time a launch is made ready.
const padHorizon = 2000

func newEngine(opts Options) *Engine {
	now := opts.Clock.Now()
	e := &Engine{
		opts: opts, hasher: newNameHasher(), startedAt: now,
		core:      NewCore(opts.Settings, job.MillisOf(now)),
		proposals: make(chan *ticket, opts.ProposalsMax),
		chores:    newChores(),
		stopping:  make(chan struct{}),
		stopped:   make(chan struct{}),
	}
	e.outcomes.ready = make(chan struct{}, 1)
	e.pad = newPad(padHorizon, opts.Sender, e.outcomes.add)
	e.pad.trust, e.pad.clock = opts.Trust, opts.Clock.Now
	return e
}

// commit makes a batch durable and then visible.
func (e *Engine) commit(epoch uint64, b *job.Batch, lsn uint64) error {
	began := time.Now()
	at, err := e.opts.Log.Append(epoch, b.Bytes())
	if err != nil {
		return fmt.Errorf("scheduler: append commit %d: %w", lsn, err)
	}
	e.gauge.committed(time.Since(began), b.Size())
	if at.LSN != lsn {
		return fmt.Errorf("scheduler: the log is at %d where commit %d belongs", at.LSN, lsn)
	}
	if err := e.opts.Store.Apply(at, b.Bytes()); err != nil {
		return fmt.Errorf("scheduler: apply commit %d: %w", lsn, err)
	}
	return nil
}

// Serve works until ctx ends or the log or the store fails, and then returns: nil after ctx ended, else
// what failed: the error wraps that of the log or the store. Launches that are with their targets may end
// later; their outcomes are not recorded, and the next start launches them again. The engine must lead
// when Serve is called, and is of no use when it has returned.
func (e *Engine) Serve(ctx context.Context) error {
	if err := e.mustLead(); err != nil {
		return fmt.Errorf("scheduler: serve: %w", err)
	}
	inner, cancel := context.WithCancel(ctx)
	var helpers sync.WaitGroup
	helpers.Go(func() { (&ticker{pad: e.pad, clock: e.opts.Clock, alarm: e.alarm}).run(inner) })
	e.pad.setFeeds(e.opts.Feeders)
	for n := range e.opts.Feeders {
		helpers.Go(func() { (&feeder{pad: e.pad, store: e.opts.Store, clock: e.opts.Clock, number: n}).run(inner) })
	}
	helpers.Go(func() { e.doChores(inner) })
	helpers.Go(func() { e.reapAll(inner) })
	if e.opts.Announcer != nil {
		helpers.Go(func() { e.announceAll(inner) })
	}

	err := e.loop(ctx)
	e.failure = err
	e.stopOnce.Do(func() { close(e.stopping) })
	cancel()
	helpers.Wait()
	e.pad.close()
	close(e.stopped)
	return errors.Join(err, e.alarm.close())
}

// Done is closed when Serve has returned.
func (e *Engine) Done() <-chan struct{} { return e.stopped }
