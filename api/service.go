package api

import (
	"crypto/rand"
	"errors"
	"fmt"
	"regexp"
	"strings"
	"sync"
	"time"

	"github.com/nats-io/nats.go"

	"github.com/carillon-io/carillon/inbox"
)

// serviceName is the name in `nats micro ls`.
func (o *Options) serviceName() string {
	if o.Standby {
		return "carillon-standby"
	}
	return "carillon"
}

// root is the prefix of the subjects. The subjects of standbys are others, because a queue group would otherwise
// give them requests that only a leader may answer.
func (o *Options) root() string {
	root := o.Prefix
	if o.Shards > 1 {
		root += fmt.Sprintf(".shard.%d", o.Shard)
	}
	if o.Standby {
		root += ".standby"
	}
	return root + ".v1."
}

// hasAccounts reports whether requests also come from the accounts of tenants. A standby answers none of them: what it
// may answer by itself is read by cluster admins. Nor does the leader of one shard of several: they come to a router.
func (o *Options) hasAccounts() bool {
	return o.Access != nil && o.Caller != nil && o.Accounts != nil && !o.Standby && o.Shards <= 1
}

// accountRoot is the prefix of the subjects to which the embedded NATS server passes the requests from the accounts of
// tenants. They are others than those of Carillon's own account, so that none of them is ever taken for one of those.
func (o *Options) accountRoot() string { return strings.TrimSuffix(o.root(), "v1.") + "account.v1." }

// Pending limits of each endpoint's subscription. Handlers do not block, so the limits are reached only if the
// process gets no CPU at all; beyond them NATS drops messages.
const (
	// Room for what comes while the process gets no CPU; a bulk registration may have several MiB.
	pendingMessages = 64 << 10
	pendingBytes    = 64 << 20
)

// Bounds of what Close waits for, besides the requests in progress: the messages that subscriptions still have, and
// the last replies to the NATS server.
const (
	// A longer time would only delay a shutdown when a subscription never reports its end.
	drainTimeout = time.Second
	flushTimeout = 5 * time.Second
)

// semanticForm is the grammar of versions, without the finer rules for pre-releases.
var semanticForm = regexp.MustCompile(`^(0|[1-9]\d*)\.(0|[1-9]\d*)\.(0|[1-9]\d*)(-[a-zA-Z][0-9a-zA-Z-]*|-\d+-g[0-9a-f]+(-dirty)?)?$`)

// Service answers the API's verbs over NATS. Its methods are safe for concurrent use. It is a thin way in: what a
// request means is decided by its executor.
type Service struct {
	opts     Options
	executor *Executor
	// nc is the caller's: the service flushes it and never closes it.
	nc *nats.Conn
	// desk receives all requests, and drops those whose reply would go to no inbox.
	desk *inbox.Desk

	bodies *bodyPlaces // that are received in parts
	// discovery bounds the questions about the service by account.
	discovery discoveryPace

	// id is random at each start, so that two processes on one machine are two instances.
	id string // of this instance, among the NATS services
	// startedAt is shown by nats micro stats, whose counters begin then.
	startedAt time.Time
	// Fixed after the start: the subscriptions to questions about the service, to requests that come to one of several processes, and
	// to those for this process alone. Those of tenants are in accounts.
	questions   []*inbox.Subscription
	shared, own []*reception
	rest        *Lingering // of them, after the end

	mu       sync.Mutex
	accounts map[string]*reception // by tenant
	conns    []*nats.Conn          // of them; the caller's
}

// NewService subscribes to the subjects of every verb, <prefix>.v1.<tenant>.<verb>, or those of its shard, and answers
// from the engine until Close. The caller keeps the connection and closes it after Close. The first request may arrive before it returns.
// After an error nothing stays subscribed.
func NewService(nc *nats.Conn, engine Engine, opts Options) (*Service, error) {
	s, err := newService(nc, engine, opts)
	if err != nil {
		return nil, err
	}
	if s.opts.Standby {
		s.forwardToLeaders()
	}
	if err := s.open(); err != nil {
		return nil, err
	}
	s.settle()
	return s, nil
}

// NewForwarder returns a service for the time in which a node changes its part: it receives nothing over NATS, and its executor
// passes every request on to the leader, or refuses it if there is none before its time is over. The engine may have ended; it
// answers only who the caller is. Close ends the service.
func NewForwarder(nc *nats.Conn, engine Engine, opts Options) (*Service, error) {
	opts.Standby, opts.Whole = true, func() bool { return false }
	s, err := newService(nc, engine, opts)
	if err != nil {
		return nil, err
	}
	s.forwardToLeaders()
	return s, nil
}

// forwardToLeaders makes the executor pass requests on to the leader.
func (s *Service) forwardToLeaders() {
	s.executor.forwarder = &forwarder{nc: s.nc, opts: &s.opts, leaders: s.opts.Leaders, failed: standbyFailed}
}

// settleMost bounds the wait for the NATS servers.
const settleMost = 100 * time.Millisecond

// settle waits until the NATS servers have the subscriptions of a leader, for a bounded time. What this node says afterwards on another
// connection, that it leads, is then heard by nodes whose servers know of them: see [Lingering].
func (s *Service) settle() {
	if s.opts.Leads == nil || s.opts.Standby {
		return
	}
	for _, nc := range append(s.accountConns(), s.nc) {
		_ = nc.FlushTimeout(settleMost) // without a server no requests come either
	}
}

// newService returns a service that receives no requests yet.
func newService(nc *nats.Conn, engine Engine, opts Options) (*Service, error) {
	opts = opts.withDefaults()
	if err := opts.validate(); err != nil {
		return nil, err
	}
	return &Service{
		opts: opts, executor: newExecutor(engine, opts, nc), nc: nc, desk: inbox.NewDesk(nc, opts.Inboxes, opts.Logger),
		bodies: newBodyPlaces(), id: rand.Text(), startedAt: time.Now().UTC(), accounts: make(map[string]*reception), rest: newLingering(nc, &opts),
	}, nil
}

// open begins to receive requests. The verbs come first, so that a tool that finds the service can use it. After an
// error nothing stays subscribed.
func (s *Service) open() error {
	if err := errors.Join(s.addVerbs(), s.addAt(), s.addReads(), s.ReviewAccounts(), s.addForwarded(), s.addDiscovery()); err != nil {
		s.close()
		return errors.Join(err, s.drain())
	}
	return nil
}

// Executor returns what carries out the requests, for callers that do not come over NATS. It accepts no further
// requests once the service is closed. A nil service has none.
func (s *Service) Executor() *Executor {
	if s == nil {
		return nil
	}
	return s.executor
}

// queueGroup is the queue group in which all servers share the requests, the default of NATS services. Each request
// is thus carried out by one of them.
const queueGroup = "q"

// addVerbs subscribes to every verb, for all tenants. Each verb has its own subscription, and so its own pending
// limits.
func (s *Service) addVerbs() error {
	for i := range verbs {
		v := &verbs[i]
		read := s.read
		if s.opts.Shards > 1 && (v.name == "calendars.put" || v.name == "calendars.delete") {
			read = s.refuseHere
		}
		if err := s.subscribe(s.opts.root(), "*."+v.name, s.accept(v, s.opts.root(), read)); err != nil {
			return err
		}
	}
	return nil
}

// subscribe begins to receive the requests on the subjects under root that a pattern has, as one of several processes.
func (s *Service) subscribe(root, pattern string, handle func(*inbox.Request)) error {
	r, err := s.receive(s.desk, root, pattern, handle)
	if err == nil {
		s.shared = append(s.shared, r)
	}
	return s.limit(r.sub.Subscription, root+pattern, err)
}

// subscribeForProcess begins to receive the requests on the subjects under root, which come to this process alone.
func (s *Service) subscribeForProcess(root string, handle func(*inbox.Request)) error {
	r, err := s.receive(s.desk, root, ">", handle)
	if err == nil {
		s.own = append(s.own, r)
	}
	return s.limit(r.sub.Subscription, root+">", err)
}

// limit bounds what waits at a subscription that was made, or has failed with err.
func (s *Service) limit(sub *nats.Subscription, subject string, err error) error {
	if err == nil {
		err = sub.SetPendingLimits(pendingMessages, pendingBytes)
	}
	if err != nil {
		return fmt.Errorf("api: subscribe to %s: %w", subject, err)
	}
	return nil
}

// subjectOf returns the subject of a verb, with a wildcard in the place of the tenant.
func (s *Service) subjectOf(v *Verb) string { return s.opts.root() + "*." + v.name }

// endpointName returns a verb in the form that NATS services allow as a name.
func endpointName(verb string) string { return strings.Replace(verb, ".", "-", 1) }
