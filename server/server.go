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
	"sync/atomic"
	"time"

	"github.com/nats-io/nats.go"

	"github.com/carillon-io/carillon/access"
	"github.com/carillon-io/carillon/bus"
	"github.com/carillon-io/carillon/dashboard"
	"github.com/carillon-io/carillon/datadir"
	"github.com/carillon-io/carillon/daybook"
	"github.com/carillon-io/carillon/dispatch"
	"github.com/carillon-io/carillon/inbox"
	"github.com/carillon-io/carillon/job"
	"github.com/carillon-io/carillon/replication"
	"github.com/carillon-io/carillon/scheduler"
	"github.com/carillon-io/carillon/shard"
	"github.com/carillon-io/carillon/tracing"
	"github.com/carillon-io/carillon/web"
)

// Ready describes where a server can be reached and what it holds, as the ready line of the command prints it.
type Ready struct {
	NATS string // URLs for a client on this machine
	HTTP string
	// Listen has the addresses on which the process listens, as it has opened them.
	Listen Listening
	Role   string // leader if the process leads a shard
	Epoch  uint64 // of several shards the largest
	Jobs   int    // in all shards
	// Shards is the number of shards of the cluster, and Leads has those that the process leads; none if there is one shard.
	Shards int
	Leads  []uint32
}

// Listening are the addresses of the listeners, as host:port with the port that was picked; "" where there is none.
type Listening struct {
	NATS  string `json:"nats,omitempty"` // of the embedded server, for clients
	HTTP  string `json:"http"`
	Peers string `json:"peers,omitempty"` // of the embedded server, for those of the other nodes
}

// Server is a running Carillon. Its methods are safe for concurrent use.
type Server struct {
	opts       Options
	dir        *datadir.Directory
	shards     int            // of the cluster; 1 for a node alone
	table      memberTable    // the shards of this process; none in a witness
	cluster    *shard.Cluster // nil: the node is alone, or does not know the cluster yet
	bus        *bus.Bus
	dispatcher *dispatch.Dispatcher
	ticks      *scheduler.Ticks // of the engines of all shards
	backups    *nats.Conn       // of the backups of all shards
	around     *bus.Surroundings
	web        *web.Front
	dashboard  *dashboard.Dashboard // nil until the web is open
	daybook    *daybook.Book        // nil: it could not be opened
	profile    *http.Server         // nil: none is wanted
	tracer     *tracing.Tracer      // nil: none is wanted
	listener   net.Listener
	inboxes    *inbox.Rule                         // reply subjects to which this server answers
	process    string                              // identifier of this process that no other server has
	readSecret func(job.SecretRef) ([]byte, error) // nil: there are no secrets
	certs      keepers                             // of the listeners with TLS
	opened     atomic.Pointer[bus.Bus]             // the bus, once it is open, for goroutines that run before that
	access     *access.Keeper                      // nil: every caller may do everything
	reread     chan struct{}                       // has an element if the file of rights was read since the last look for unlisted tenants
	sending    atomic.Pointer[dispatch.Dispatcher] // the dispatcher, for the same goroutines
	serving    atomic.Bool                         // each member has its shard, for the same goroutines
	router     atomic.Pointer[front]               // of several shards; one answers by itself
	sessionKey sessionKey                          // of the pages
	nodeKey    func() []byte                       // what Options.forwardKey returns, which takes a tenth of a second once
	usage      *usageExchange                      // of what tenants use in each shard; nil: there is one shard, or no quota
	ready      Ready

	stopWarning     context.CancelFunc // nil: the server does not run with Options.Insecure
	profileListener net.Listener       // nil: no profiles are wanted

	stopCerts  context.CancelFunc // nil: no certificates are watched
	stopAccess context.CancelFunc // nil: no watch of the file of rights runs

	stopPlaces     context.CancelFunc // nil: the process has all shards for ever
	placing        sync.WaitGroup     // goroutines that open and close shards
	stopUnlisted   context.CancelFunc // nil: no watch for unlisted tenants runs
	stopCalendars  context.CancelFunc // nil: the process holds no copies of calendars
	stopUsage      context.CancelFunc // nil: what tenants use is not exchanged
	stopSessionKey context.CancelFunc // nil: the key of the sessions is not shared by NATS
	stopWatch      context.CancelFunc // nil: no watch of JetStream runs
	stopPending    context.CancelFunc // nil: no watch of what clients do not read runs
	stopAround     context.CancelFunc // nil: no watch of the surroundings runs
	stopServers    context.CancelFunc // nil: no watch of the servers of the connections runs
	background     sync.WaitGroup
	failed         chan error // failures of parts; the first one ends the server, and those that find no place are dropped
	closeOnce      sync.Once
	closed         chan struct{}
	closeErr       error
}

// Start opens the data directory, recovers its contents, and returns when jobs fire and requests are answered.
// ctx bounds the start alone. After an error nothing is left running. It is an [OptionsError] if the options, or files that
// they name, are wrong: nothing was opened or made then.
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

// newServer returns a server of which nothing is started. Every error is an [OptionsError].
func newServer(opts Options) (*Server, error) {
	s, err := assemble(opts.withDefaults())
	if err != nil {
		return nil, &OptionsError{err}
	}
	return s, nil
}

// assemble checks the options, with the files that they name, and returns a server for them. What it refuses is refused
// because of the options alone.
func assemble(opts Options) (*Server, error) {
	if err := opts.validate(); err != nil {
		return nil, err
	}
	if err := errors.Join(opts.checkClusterPassword(), opts.checkProven(), opts.checkFiles()); err != nil {
		return nil, err
	}
	opts.pinLocalhost()
	if err := opts.openZones(); err != nil {
		return nil, err
	}
	inboxes, err := inbox.NewRule(opts.Prefix, opts.InboxPrefixes...)
	if err != nil {
		return nil, fmt.Errorf("options: %w", err)
	}
	readSecret, err := opts.openSecrets()
	if err != nil {
		return nil, err
	}
	return &Server{
		opts: opts, inboxes: inboxes, readSecret: readSecret, nodeKey: sync.OnceValue(opts.forwardKey), process: replication.NewProcess(),
		shards: 1, ticks: scheduler.NewTicks(0), failed: make(chan error, 8), reread: make(chan struct{}, 1), closed: make(chan struct{}),
	}, nil
}

// listen opens the HTTP address first, because a port in use is the likeliest fault and the cheapest to find.
// Until the server can answer, callers receive a reply that says so. The certificates of all listeners are read before.
func (s *Server) listen(context.Context) error {
	if err := s.openCerts(); err != nil {
		return err
	}
	l, err := net.Listen("tcp", s.opts.HTTPListen)
	if err != nil {
		return fmt.Errorf("listen for HTTP on %s: %w", s.opts.HTTPListen, err)
	}
	s.listener = l
	s.openFront()
	return nil
}

func (s *Server) openBus(ctx context.Context) (err error) {
	if err := datadir.SetNATSAside(s.opts.Dir, s.dir.Identity(), s.opts.clusterEmbedded(), s.opts.Logger); err != nil {
		return err
	}
	if s.bus, err = bus.Open(ctx, s.busOptions()); err == nil {
		s.opened.Store(s.bus)
		s.reviewClients() // the rights may have changed while it opened
	}
	return err
}

// openDispatch opens the senders to the targets.
func (s *Server) openDispatch(context.Context) (err error) {
	o := &s.opts
	rules := s.rules()
	s.dispatcher, err = dispatch.New(dispatch.Options{
		NATS: s.bus.Dispatch(), TenantNATS: s.tenantNATS(), TenantShares: s.sharesNATS, TenantLinksMax: tenantLinks(filesMax()),
		Prefix: rules.Prefix, InboxPrefixes: rules.InboxPrefixes, AllowPrivateTargets: rules.AllowPrivateTargets,
		Targets: rules.Targets, Secret: s.readSecret, InFlight: s.inFlight(),
		ConfirmPause: scheduler.RoundsOf(o.Lead, s.shards), Own: s.own(), ConcurrencyPerTarget: o.MaxInFlight, Settle: o.settle, HTTPMax: targetConnections(filesMax(), o.HTTPConnections), TLS: o.webhookTLS(), Logger: o.Logger, Tracer: s.attemptTracer(),
	})
	s.sending.Store(s.dispatcher)
	return err
}

// inFlight returns the function by which the senders ask for the attempts that a tenant may have under way; nil without a
// file of rights.
func (s *Server) inFlight() func(tenant string) int {
	if s.access == nil {
		return nil
	}
	return func(tenant string) int { return int(s.access.Tenant(tenant).Quota.InFlight) }
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
