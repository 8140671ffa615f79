package scheduler

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"runtime"
	"sync"
	"sync/atomic"
	"time"

	"github.com/carillon-io/carillon/instant"
	"github.com/carillon-io/carillon/job"
	"github.com/carillon-io/carillon/schedule"
	"github.com/carillon-io/carillon/scheduler/core"
	"github.com/carillon-io/carillon/scheduler/pad"
)

// Options configure an engine. Log, Store and Sender are required; every other zero value means a default. An engine
// keeps its own copy.
type Options struct {
	Log    Log
	Store  Store
	Sender Sender
	// Announcer publishes dead letters and events. Nil means that none are written.
	Announcer Announcer
	Clock     Clock        // default: SystemClock
	Logger    *slog.Logger // default: slog.Default()
	Shard     uint32       // number of this engine in its cluster

	// Settings of the core; see there. Defaults: Lead 250 ms, Grace 1 s, HistoryDays 90,
	// CompletedRetention 24 h (negative: for ever).
	Settings Settings

	// LiveMax bounds the runs without an outcome, which tenants share. Once a tenant has used up its share, its ticks
	// wait until some of its runs end: they become late, but none is lost. Default 1,000,000.
	LiveMax int
	// ProposalsMax bounds the proposals that wait for a commit; further callers block. Default 8,192.
	ProposalsMax int
	// Trust returns for how long, from now on, launches may leave. With 0 or less they wait on the pad until trust
	// returns. It is called before each batch of launches, from several goroutines, so it must be fast and safe for
	// concurrent use. Nil means always.
	Trust func() time.Duration
	// RowsMax returns the highest version of rows that every node of the cluster can read, and the name of a node
	// that can read no higher one. noted is what NoteReader has noted; it must not be changed. A definition that
	// needs a higher version is refused, and ids begin to carry slots only once all nodes read
	// [job.RowsVersionOfSlots]. It is called for each definition, so it must be fast and safe for concurrent use. Nil
	// means the version that this build reads.
	RowsMax func(noted map[string]byte) (version byte, node string)
	// Quotas returns the quotas of tenants that are in force. It is called in each step, so it must be fast and safe for
	// concurrent use, and return the same pointer as long as nothing has changed. Nil means that there are none.
	Quotas func() *core.Quotas
	// Usual returns the usual rate of the other shards of the cluster, as far as it is known. It is called about once a second,
	// and must be safe for concurrent use. Nil means that none is known, or that there is no other shard.
	Usual func() core.Usual
	// Secret returns the value of a secret that a definition names, so that it can be masked in the texts of workers.
	// It is safe for concurrent use. Nil means that there are no secrets.
	Secret func(ref job.SecretRef) ([]byte, error)
	// CalendarsMax returns how many calendars a tenant may have; 0 means 1,000. It is called for each put of a
	// calendar, and is safe for concurrent use. Nil means 1,000 for every tenant.
	CalendarsMax func(tenant string) int
	// Feeders is the number of goroutines that read cold rows. Default: the processors, at least 2 and at most 16.
	Feeders int
	// Ticks launch what is due. The engines of one process share them. Nil: the engine has one of its own.
	Ticks *pad.Ticks
	// Loading is called from time to time with the number of jobs that were read, one call at a time, while the engine is
	// opened. Nil means that it is not called.
	Loading func(jobs uint64)
}

// withDefaults returns the options with defaults in place of zero values. It changes a copy, so that the options of
// the caller can serve for several engines.
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
	setDefault(&o.Settings.Zones, schedule.EmbeddedZones())
	setDefault(&o.Settings.CompletedRetention, 24*time.Hour)
	o.Settings.CompletedRetention = max(0, o.Settings.CompletedRetention)
	o.Settings.DeadLetters = o.Announcer != nil
	o.Settings.Events = o.Settings.Events && o.Announcer != nil
	setDefault(&o.Settings.EventsMax, core.EventsMaxDefault)
	setDefault(&o.LiveMax, 1_000_000)
	setDefault(&o.ProposalsMax, 8192)
	setDefault(&o.Feeders, max(2, min(runtime.NumCPU(), 16)))
	return o
}

// setDefault replaces a zero value. So no option can be set to zero where zero means its default: a negative value
// says it instead, where that is needed.
func setDefault[T comparable](v *T, d T) {
	var zero T
	if *v == zero {
		*v = d
	}
}

// validate refuses what no engine could work with. It is called after withDefaults.
func (o Options) validate() error {
	switch {
	case o.Log == nil || o.Store == nil || o.Sender == nil:
		return errors.New("scheduler: options: Log, Store and Sender are required")
	case o.Settings.Lead < 0 || o.Settings.Lead > core.LeadMax:
		return fmt.Errorf("scheduler: options: lead %s is out of range (0 to %s)", o.Settings.Lead, core.LeadMax)
	case o.Settings.Grace < 0 || o.Settings.HistoryDays < 0 || o.Settings.CatchupRate < 0 || o.Settings.EventsMax < 0:
		return errors.New("scheduler: options: grace, history, catch-up rate and waiting events must not be negative")
	case o.LiveMax < 1 || o.ProposalsMax < 1 || o.Feeders < 1:
		return errors.New("scheduler: options: LiveMax, ProposalsMax and Feeders must be positive")
	}
	return nil
}

// Engine is the thin shell around a [core.Core]: one loop that steps and commits, one thread that launches on time, and a
// few goroutines that read ahead. Its methods are safe for concurrent use, except where they say otherwise.
type Engine struct {
	opts   Options
	core   *core.Core
	hasher nameHasher
	pad    *pad.Pad
	lists  listBounds

	alone bool // it has led from the beginning, so no other node can
	leads atomic.Bool
	rows  atomic.Uint32 // newest version of the rows in the store, as of the last step
	// droppable is the number of deleted jobs of which something is kept that notices may not need any more, as of the last step.
	droppable atomic.Int64
	// readers is what was noted of the nodes, as of the last step.
	readers atomic.Pointer[map[string]byte]
	// broken is why it can no longer follow the leader. Only the goroutine that calls Apply and Lead uses it.
	broken error

	proposals chan *ticket
	outcomes  outcomeQueue
	// rests asks the loop to stop between two steps, until the sent channel is closed. It has no capacity, so that a
	// send that succeeds means that the loop rests.
	rests        chan chan struct{}
	rested       chan struct{} // the loop has stopped
	housekeeping housekeeping
	gauge        gauge

	stopping  chan struct{} // closed when no further proposal is accepted
	stopOnce  sync.Once
	stopped   chan struct{} // closed when Serve has returned
	failure   error         // why the engine stopped; set before stopped closes
	startedAt time.Time
}

// Open loads the engine from its store, which must have applied its whole log, and commits the beginning of a new
// epoch. It is Follow and Lead. Nothing is launched before Serve. After an error nothing runs, and the store is as it
// was or has the commit of the epoch.
func Open(opts Options) (*Engine, error) {
	e, err := Follow(opts)
	if err != nil {
		return nil, err
	}
	if err := e.Lead(); err != nil {
		return nil, err
	}
	e.alone = true
	return e, nil
}

// newEngine returns an engine that is not loaded. It starts no goroutine.
func newEngine(opts Options) *Engine {
	now := opts.Clock.Now()
	e := &Engine{
		opts: opts, hasher: newNameHasher(), startedAt: now, lists: usualListBounds,
		core:         core.New(opts.Settings, instant.Of(now)),
		proposals:    make(chan *ticket, opts.ProposalsMax),
		housekeeping: newHousekeeping(),
		rests:        make(chan chan struct{}),
		stopping:     make(chan struct{}),
		stopped:      make(chan struct{}),
	}
	e.outcomes.ready = make(chan struct{}, 1)
	e.pad = pad.New(pad.Options{
		Sender: opts.Sender, Rows: opts.Store, Report: e.outcomes.add, Trust: opts.Trust, Now: opts.Clock.Now,
		TemplateBytes: templateBytes(opts.Settings.Shards), Ticks: opts.Ticks,
	})
	return e
}

// templateBytes returns what the pad of one of so many shards may keep of definitions.
func templateBytes(shards int) int64 { return max(1<<20, 8<<20/int64(max(1, shards))) }

// commit makes a batch durable, and then visible. The order is what durability rests on: readers, replies and launches
// follow from the store, and nothing is in the store that is not in the log. A position other than the expected one
// means that the numbers in the rows are wrong, so it is an error like a failed append. The time is measured by the
// monotonic clock of the process, not by Options.Clock.
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

// Serve runs the engine until ctx ends, or until the log or the store fails. It returns nil after ctx ended;
// otherwise an error that wraps that of the log or the store. Attempts that are with their targets may end later:
// their outcomes are not recorded, and the next start launches them again. The engine must lead when Serve is called,
// and cannot be used after it has returned.
func (e *Engine) Serve(ctx context.Context) error {
	if err := e.mustLead(); err != nil {
		return fmt.Errorf("scheduler: serve: %w", err)
	}
	inner, cancel := context.WithCancel(ctx)
	var helpers sync.WaitGroup
	// The loop never waits for the helpers. If it fails, they end by the inner context.
	helpers.Go(func() { e.pad.Serve(inner, e.opts.Feeders) })
	helpers.Go(func() { e.doHousekeeping(inner) })
	helpers.Go(func() { e.reapAll(inner) })
	if e.opts.Announcer != nil {
		helpers.Go(func() { e.announceAll(inner) })
	}

	err := e.loop(ctx)
	e.pad.Gate().End()
	e.failure = err
	e.stopOnce.Do(func() { close(e.stopping) })
	cancel()
	helpers.Wait()
	err = errors.Join(err, e.pad.Close())
	close(e.stopped)
	return err
}

// Done returns a channel that is closed when Serve has returned. It is never closed if Serve is never called, except
// by [ManualDriver.Close].
func (e *Engine) Done() <-chan struct{} { return e.stopped }
