package shard

import (
	"cmp"
	"context"
	"log/slog"
	"sync"
	"sync/atomic"

	"github.com/carillon-io/carillon/api"
	"github.com/carillon-io/carillon/datadir"
	"github.com/carillon-io/carillon/job"
	"github.com/carillon-io/carillon/replication"
	"github.com/carillon-io/carillon/scheduler"
)

// Shard is one engine with its data. [New] makes it, [Shard.Open] opens the engine, and [Shard.Start] lets it run.
// These and Close are called by one goroutine, in this order; the other methods are safe for concurrent use once Open
// was called.
type Shard struct {
	opts      Options
	announcer scheduler.Announcer // nil: none is wanted

	// After a member has led, and after its data was replaced, a new engine and a new service take their place.
	engine  atomic.Pointer[scheduler.Engine]
	service atomic.Pointer[service]
	closing closings // replaced services that still answer
	// What is left of the last service of each kind.
	lastLeader, lastStandby atomic.Pointer[api.Lingering]

	// data is guarded by mu, which is held for writing while the log and the store of a member are replaced.
	mu   sync.RWMutex
	data *datadir.Shard

	// Only in a cluster.
	node   *replication.Node
	member *member

	stop       context.CancelFunc // ends the engine or the node; nil before Start
	done       chan struct{}      // closed when the engine or the node has ended
	failure    error              // of it; to be read once done is closed
	endLead    func()             // of a shard alone that leads
	stopKeeper context.CancelFunc // nil: no checkpoints are made
	keeper     sync.WaitGroup
}

// New returns a shard of which nothing is open yet.
func New(opts Options) *Shard {
	opts.Logger = cmp.Or(opts.Logger, slog.Default())
	return &Shard{opts: opts, data: opts.Data}
}

// Open opens the engine. A shard alone recovers its jobs; one in a cluster finds the cluster, or founds it, and begins
// to follow. Nothing is launched before [Shard.Start]. ctx bounds the opening alone; without JetStream a member waits
// for it until ctx ends. After an error the caller closes the shard.
func (s *Shard) Open(ctx context.Context) error {
	if s.opts.Cluster != nil {
		return s.openMember(ctx)
	}
	return s.openAlone(ctx)
}

// Start lets the engine run, and returns its role when jobs fire and requests are answered: the shard leads, or it
// follows without a gap. ctx bounds the start alone. After an error the caller closes the shard.
func (s *Shard) Start(ctx context.Context) (role string, err error) {
	if s.node != nil {
		return s.startMember(ctx)
	}
	return s.startAlone()
}

// Close ends the shard: a leader of a cluster hands over, if a standby can take over; a shard alone waits until ctx
// ends for the answers to attempts in flight, and records them. It does nothing for parts that were not opened. The
// data stays open.
func (s *Shard) Close(ctx context.Context) error {
	if s.opts.Cluster != nil {
		s.closeMember(ctx)
		return nil
	}
	return s.closeAlone(ctx)
}

// Number returns the number of the shard.
func (s *Shard) Number() uint32 { return s.opts.Number }

// Engine returns the present engine; nil before Open has opened one.
func (s *Shard) Engine() *scheduler.Engine { return s.engine.Load() }

// Status returns the status of the present engine. There must be one.
func (s *Shard) Status() scheduler.Status { return s.engine.Load().Status() }

// TenantQuotas returns the tenants that have a quota, and what they use.
func (s *Shard) TenantQuotas() []scheduler.TenantQuota { return s.engine.Load().TenantQuotas() }

// TenantsWithJobs returns the tenants with jobs that f selects, as [scheduler.Engine.TenantsWithJobs] does; none before Open
// has opened an engine.
func (s *Shard) TenantsWithJobs(most int, f func(tenant string) bool) []string {
	e := s.engine.Load()
	if e == nil {
		return nil
	}
	return e.TenantsWithJobs(most, f)
}

// Service returns the service that answers requests at present; nil while there is none, because the shard starts,
// stops, or changes its role.
func (s *Shard) Service() *api.Service { return s.service.Load().api() }

// LeaderService returns the service that answers requests at present if it is that of a leader; nil otherwise.
func (s *Shard) LeaderService() *api.Service {
	if v := s.service.Load(); v != nil && !v.standby {
		return v.api()
	}
	return nil
}

// Node returns the node of a member; nil for a shard alone, and until the node has found its cluster.
func (s *Shard) Node() *replication.Node { return s.node }

// WithData calls f with the log and the store. The log and the store are not replaced meanwhile, so f must be short.
func (s *Shard) WithData(f func(*datadir.Shard)) {
	s.mu.RLock()
	defer s.mu.RUnlock()
	f(s.data)
}

// Export writes a copy of the store into a new directory of that name, and returns its path and the copy's position.
// The caller removes the directory; after a crash, the next Open does.
func (s *Shard) Export(ctx context.Context, name string) (dir string, at job.Position, err error) {
	s.mu.RLock()
	defer s.mu.RUnlock()
	return s.data.Export(ctx, name)
}

// engineOptions returns the options of an engine whose commits go to log. The caller keeps the store from being
// replaced.
func (s *Shard) engineOptions(log scheduler.Log) scheduler.Options {
	o := s.opts.Engine
	o.Shard, o.Log, o.Store = s.opts.Number, log, s.data.Store()
	if s.announcer != nil {
		o.Announcer = s.announcer
	}
	return o
}

// openAnnouncer opens the publisher of events and dead letters, if one is wanted.
func (s *Shard) openAnnouncer(ctx context.Context, origin string) (err error) {
	if s.opts.OpenAnnouncer != nil {
		s.announcer, err = s.opts.OpenAnnouncer(ctx, origin)
	}
	return err
}

// beforeLead says that the shard is about to launch.
func (s *Shard) beforeLead() {
	if s.opts.BeforeLead != nil {
		s.opts.BeforeLead()
	}
}

// lead says that the shard leads, and returns the function that says that it no longer does.
func (s *Shard) lead() (end func()) {
	if s.opts.OnLead == nil {
		return func() {}
	}
	return s.opts.OnLead()
}

// keep makes checkpoints until stopKeeping is called.
func (s *Shard) keep() {
	ctx, stop := context.WithCancel(context.Background())
	s.stopKeeper = stop
	s.keeper.Go(func() { s.fail(s.data.Keep(ctx, s.opts.CheckpointEvery)) })
}

// stopKeeping ends the checkpoints. It may be repeated.
func (s *Shard) stopKeeping() {
	if s.stopKeeper != nil {
		s.stopKeeper()
	}
	s.keeper.Wait()
}

// run calls f in the background until stop is called. A failure is passed on, and kept until done is closed.
func (s *Shard) run(f func(context.Context) error) {
	ctx, stop := context.WithCancel(context.Background())
	s.stop, s.done = stop, make(chan struct{})
	go func() {
		defer close(s.done)
		s.failure = f(ctx)
		s.fail(s.failure)
	}()
}

// fail passes the failure of a part on.
func (s *Shard) fail(err error) {
	if err != nil {
		s.opts.OnFatal(err)
	}
}
