// Package server assembles a Carillon server. It opens the log and the store, replays into the store what
// only the log has, starts the engine, and connects it to the API and to the senders. The command only parses
// flags and calls [Start]; any other program can do the same.
package server

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"sync"
	"time"

	"github.com/carillon-io/carillon/api"
	"github.com/carillon-io/carillon/bus"
	"github.com/carillon-io/carillon/client"
	"github.com/carillon-io/carillon/datadir"
	"github.com/carillon-io/carillon/dispatch"
	"github.com/carillon-io/carillon/inbox"
	"github.com/carillon-io/carillon/replication"
	"github.com/carillon-io/carillon/scheduler"
	"github.com/carillon-io/carillon/tracing"
	"github.com/carillon-io/carillon/web"
)

// Ready describes where a server can be reached and what it holds, as the ready line of the command prints it.
type Ready struct {
	NATS  string
	HTTP  string
	Role  string
	Epoch uint64
	Jobs  int
}

// Server is a running Carillon. Its methods are safe for concurrent use.
type Server struct {
	opts       Options
	dir        *datadir.Directory
	data       *datadir.Shard // nil in a witness
	bus        *bus.Bus
	dispatcher *dispatch.Dispatcher
	engine     *scheduler.Engine
	announcer  *dispatch.Announcer
	service    *api.Service
	backups    *backups
	around     *bus.Surroundings
	web        *web.Front
	profile    *http.Server    // nil: none is wanted
	tracer     *tracing.Tracer // nil: none is wanted
	listener   net.Listener
	inboxes    *inbox.Rule // reply subjects to which this server answers
	process    string      // identifier of this process that no other server has
	ready      Ready

	profileListener net.Listener // nil: no profiles are wanted

	// Only for a node in a cluster, instead of engine and service.
	node     *replication.Node
	nodeDone chan struct{} // closed when the node has ended
	member   *member

	stopEngine context.CancelFunc
	stopKeeper context.CancelFunc
	stopWatch  context.CancelFunc // nil: no watch of JetStream runs
	stopAround context.CancelFunc // nil: no watch of the surroundings runs
	background sync.WaitGroup
	failed     chan error // failures of parts; the first one ends the server, and those that find no place are dropped
	closeOnce  sync.Once
	closed     chan struct{}
	closeErr   error
}

// Start opens the data directory, recovers its contents, and returns when jobs fire and requests are answered.
// ctx bounds the start alone. After an error nothing is left running.
func Start(ctx context.Context, opts Options) (*Server, error) {
	s, err := newServer(opts)
	if err != nil {
		return nil, err
	}
	for _, step := range s.steps() {
		err := step(ctx)
		if err == nil {
			err = ctx.Err()
		}
		if err != nil {
			stop, cancel := context.WithTimeout(context.WithoutCancel(ctx), 10*time.Second)
			defer cancel()
			return nil, errors.Join(err, s.Close(stop))
		}
	}
	return s, nil
}

// newServer returns a server of which nothing is started.
func newServer(opts Options) (*Server, error) {
	opts = opts.withDefaults()
	if err := opts.validate(); err != nil {
		return nil, err
	}
	if err := opts.openZones(); err != nil {
		return nil, err
	}
	inboxes, err := inbox.NewRule(opts.Prefix, opts.InboxPrefixes...)
	if err != nil {
		return nil, fmt.Errorf("options: %w", err)
	}
	return &Server{opts: opts, inboxes: inboxes, process: replication.NewProcess(), failed: make(chan error, 8), closed: make(chan struct{})}, nil
}

// steps returns the steps of a start, in order.
func (s *Server) steps() []func(context.Context) error {
	if s.opts.Witness {
		return []func(context.Context) error{s.listen, s.openProfile, s.openWitness, s.openBus, s.watchJetStream, s.openHealth}
	}
	if s.opts.clustered() {
		return []func(context.Context) error{s.listen, s.openProfile, s.openData, s.openTraces, s.openBus, s.watchJetStream, s.openSurroundings, s.openBackups, s.openDispatch, s.openNode, s.openClusterWeb, s.runNode}
	}
	return []func(context.Context) error{s.listen, s.openProfile, s.refuseMember, s.openData, s.openTraces, s.openBus, s.openSurroundings, s.openBackups, s.openDispatch, s.openEngine, s.openAPI}
}

// listen opens the HTTP address first, because a port in use is the likeliest fault and the cheapest to find.
// Until the server can answer, callers receive a reply that says so.
func (s *Server) listen(context.Context) error {
	l, err := net.Listen("tcp", s.opts.HTTPListen)
	if err != nil {
		return fmt.Errorf("listen for HTTP on %s: %w", s.opts.HTTPListen, err)
	}
	s.listener = l
	s.openFront()
	return nil
}

func (s *Server) openData(context.Context) (err error) {
	if s.dir, err = datadir.OpenDirectory(s.dirOptions()); err != nil {
		return err
	}
	if s.data, err = s.dir.OpenShard(0, s.shardOptions()); err == nil {
		id := s.dir.Identity()
		s.opts.Node, s.opts.founding = id.Node, id.IsFounder()
	}
	return err
}

func (s *Server) openBus(ctx context.Context) (err error) {
	if err := datadir.SetNATSAside(s.opts.Dir, s.dir.Identity(), s.opts.clusterEmbedded(), s.opts.Logger); err != nil {
		return err
	}
	s.bus, err = bus.Open(ctx, s.busOptions())
	return err
}

// openDispatch opens the senders to the targets.
func (s *Server) openDispatch(context.Context) (err error) {
	o := &s.opts
	rules := o.rules()
	s.dispatcher, err = dispatch.New(dispatch.Options{
		NATS: s.bus.Dispatch(), Prefix: rules.Prefix, InboxPrefixes: rules.InboxPrefixes, AllowPrivateTargets: rules.AllowPrivateTargets,
		Own: s.own(), ConcurrencyPerTarget: o.MaxInFlight, TLS: o.webhookTLS(), Logger: o.Logger, Tracer: s.attemptTracer(),
	})
	return err
}

// openAnnouncer opens the publisher of events and dead letters. The origin is the same on every node of a
// cluster, so that what two leaders publish about one change has the same id.
func (s *Server) openAnnouncer(ctx context.Context, origin string) (err error) {
	o := &s.opts
	s.announcer, err = dispatch.NewAnnouncer(s.bus.Notices(), dispatch.AnnouncerOptions{
		Prefix: o.Prefix, Origin: origin,
		Events: dispatch.EventOptions{Enabled: o.Events, Stream: o.EventsStream, MaxAge: o.EventsMaxAge, MaxBytes: o.EventsMaxBytes},
	})
	if err == nil && o.Events {
		err = s.announcer.Prepare(ctx)
	}
	return err
}

// engineOptions returns the options of an engine whose commits go to log.
func (s *Server) engineOptions(log scheduler.Log) scheduler.Options {
	o := &s.opts
	return scheduler.Options{
		Log: log, Store: s.data.Store(), Sender: s.dispatcher, Announcer: s.announcer, Logger: o.Logger, Loading: o.loading(),
		Settings: scheduler.Settings{
			Lead: o.Lead, CompletedRetention: o.CompletedRetention, HistoryDays: o.HistoryDays,
			CatchupRate: o.CatchupRate, Events: o.Events, EventsMax: o.EventsMaxWaiting, Zones: o.zones,
		},
	}
}

func (s *Server) openEngine(ctx context.Context) (err error) {
	origin, err := datadir.OpenInstallation(s.opts.Dir)
	if err != nil {
		return err
	}
	if err := s.openAnnouncer(ctx, origin); err != nil {
		return err
	}
	if s.engine, err = scheduler.Open(s.engineOptions(s.data.Log())); err != nil {
		return err
	}
	engineCtx, stopEngine := context.WithCancel(context.Background())
	keeperCtx, stopKeeper := context.WithCancel(context.Background())
	s.stopEngine, s.stopKeeper = stopEngine, stopKeeper
	s.background.Go(func() { s.fail(s.engine.Serve(engineCtx)) })
	s.background.Go(func() { s.fail(s.data.Keep(keeperCtx, s.opts.CheckpointEvery)) })
	return nil
}

func (s *Server) openAPI(ctx context.Context) (err error) {
	if s.service, err = s.newService(s.engine, false); err != nil {
		return err
	}
	s.serveWeb(s.engine, func() *api.Service { return s.service })
	st := s.engine.Status()
	s.ready = Ready{
		NATS: s.bus.URL(), HTTP: "http://" + bus.Reachable(s.listener.Addr()),
		Role: st.Role, Epoch: st.Epoch, Jobs: st.Jobs,
	}
	if err := errors.Join(s.backups.listen(), s.backups.conn.FlushTimeout(flushTimeMax)); err != nil {
		return err
	}
	return s.bus.Flush(ctx)
}

// newService makes the service that answers requests over NATS.
func (s *Server) newService(engine api.Engine, standby bool) (*api.Service, error) {
	o := &s.opts
	var leads func() bool
	if s.node != nil {
		leads = func() bool { return s.node.Trust() > 0 }
	}
	return api.NewService(s.bus.API(), engine, api.Options{
		Node: s.aboutNode(), Leads: leads,
		Prefix: o.Prefix, Rules: o.rules(), Logger: o.Logger, Standby: standby, Tracer: s.requestTracer(), Zones: o.zones,
	})
}

// aboutCluster returns the function that describes the cluster; nil if there is none.
func (s *Server) aboutCluster() func() *client.Cluster {
	if s.node == nil {
		return nil
	}
	return s.clusterInfo
}

// fail records the failure of a part: the server is to be closed. Only the first failure counts.
func (s *Server) fail(err error) {
	if err == nil {
		return
	}
	s.opts.Logger.Error("a part has failed", slog.Any("error", err))
	select {
	case s.failed <- err:
	default:
	}
}

// Ready returns where the server can be reached. It is valid once Start has returned.
func (s *Server) Ready() Ready { return s.ready }

// Wait blocks until a part of the server fails, and returns that error, or until the server is closed, and
// returns nil.
func (s *Server) Wait() error {
	select {
	case err := <-s.failed:
		return err
	case <-s.closed:
		return nil
	}
}
