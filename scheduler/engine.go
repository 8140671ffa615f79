package scheduler

import (
	"context"
	"crypto/rand"
	"encoding/binary"
	"errors"
	"fmt"
	"log/slog"
	"sync"
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

	// LiveMax is how many runs may be without an outcome. At the bound no further tick is decided
	// until one ends: ticks become late, none is lost. Default 1,000,000.
	LiveMax int
	// ProposalsMax is how many proposals may wait for their commit; more callers wait themselves.
	// Default 8,192.
	ProposalsMax int
	// Feeders is how many goroutines read cold rows. Default 2.
	Feeders int
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
	alarm  *alarm

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
// of a new epoch. Nothing is launched before Serve.
func Open(opts Options) (*Engine, error) {
	opts = opts.withDefaults()
	if err := opts.validate(); err != nil {
		return nil, err
	}
	alarm, err := newAlarm()
	if err != nil {
		return nil, err
	}
	now := opts.Clock.Now()
	e := &Engine{
		opts: opts, hasher: newNameHasher(), alarm: alarm, startedAt: now,
		core:      NewCore(opts.Settings, job.MillisOf(now)),
		proposals: make(chan *ticket, opts.ProposalsMax),
		chores:    newChores(),
		stopping:  make(chan struct{}),
		stopped:   make(chan struct{}),
	}
	e.outcomes.ready = make(chan struct{}, 1)
	e.pad = newPad(padHorizon, opts.Sender, e.outcomes.add)
	e.pad.wake = alarm.ring
	if err := e.begin(); err != nil {
		_ = alarm.close()
		return nil, err
	}
	return e, nil
}

// padHorizon is how long before its time a launch is made ready.
const padHorizon = 2000

// begin loads the core and commits the new epoch.
func (e *Engine) begin() error {
	lsn := e.opts.Store.Applied().LSN + 1
	launches, going, err := e.core.Load(e.opts.Store, lsn, e.hasher.hash)
	if err != nil {
		return err
	}
	if e.core.nextID == 1 {
		if e.core.nextID, err = firstID(); err != nil {
			return err
		}
	}
	e.core.epoch++
	var b job.Batch
	b.PutMeta(metaEpoch, e.core.epoch)
	b.PutMeta(metaNextID, uint64(e.core.nextID))
	b.PutMeta(metaShard, uint64(e.opts.Shard))
	if err := e.commit(&b, lsn); err != nil {
		return err
	}
	for _, p := range e.core.overdrawn {
		offer(e.chores.pauses, p)
	}
	if e.core.replanning {
		signal(e.chores.replan)
	}
	e.pad.occupy(going)
	e.pad.add(launches, job.MillisOf(e.opts.Clock.Now()))
	e.publish(&Output{}, e.startedAt)
	return nil
}

// firstID draws where the job ids of a new cluster begin, so that those of two clusters do not meet.
func firstID() (job.ID, error) {
	var b [8]byte
	if _, err := rand.Read(b[:]); err != nil {
		return 0, fmt.Errorf("scheduler: draw the first job id: %w", err)
	}
	return job.ID(binary.LittleEndian.Uint64(b[:])>>24<<20 | 1), nil
}

// commit makes a batch durable and then visible.
func (e *Engine) commit(b *job.Batch, lsn uint64) error {
	at, err := e.opts.Log.Append(e.core.epoch, b.Bytes())
	if err != nil {
		return fmt.Errorf("scheduler: append commit %d: %w", lsn, err)
	}
	if at.LSN != lsn {
		return fmt.Errorf("scheduler: the log is at %d where commit %d belongs", at.LSN, lsn)
	}
	if err := e.opts.Store.Apply(at, b.Bytes()); err != nil {
		return fmt.Errorf("scheduler: apply commit %d: %w", lsn, err)
	}
	return nil
}

// Serve works until ctx ends or the log or the store fails, and then returns: nil after ctx ended, else
// what failed. Launches that are with their targets may end later; their outcomes are not recorded,
// and the next start launches them again.
func (e *Engine) Serve(ctx context.Context) error {
	inner, cancel := context.WithCancel(ctx)
	var helpers sync.WaitGroup
	helpers.Go(func() { (&ticker{pad: e.pad, clock: e.opts.Clock, alarm: e.alarm}).run(inner) })
	for range e.opts.Feeders {
		helpers.Go(func() { (&feeder{pad: e.pad, store: e.opts.Store, clock: e.opts.Clock}).run(inner) })
	}
	helpers.Go(func() { e.doChores(inner) })
	if e.opts.Announcer != nil {
		helpers.Go(func() { e.announceAll(inner) })
	}

	err := e.loop(ctx)
	e.failure = err
	e.stopOnce.Do(func() { close(e.stopping) })
	cancel()
	helpers.Wait()
	close(e.stopped)
	return errors.Join(err, e.alarm.close())
}

// Done is closed when Serve has returned.
func (e *Engine) Done() <-chan struct{} { return e.stopped }
