package api

import (
	"context"
	"errors"
	"log/slog"
	"runtime"
	"strings"
	"sync/atomic"
	"time"

	"golang.org/x/time/rate"

	"github.com/carillon-io/carillon/access"
	"github.com/carillon-io/carillon/apierr"
	"github.com/carillon-io/carillon/client"
	"github.com/carillon-io/carillon/job"
	"github.com/carillon-io/carillon/scheduler"
)

// Executor carries out the verbs, whichever way a request comes: over NATS, over HTTP, from a page or from a caller
// in this process. All ways share its gates, its memory for replies and its counters. Its methods are safe for
// concurrent use. The fields are fixed after the start, except for the counters, the gates and the rooms, which guard
// themselves.
//
// Invariant: underWay counts a request over NATS until its reply is sent, and one over HTTP from before the check of
// isClosed until it has been carried out. A Close waits until it is zero.
type Executor struct {
	// opts has its defaults and is valid.
	opts    Options
	engine  Engine  // nil in a router
	carrier carrier // of requests and replies; nil: they are calls in this process
	// forwarder passes requests on to the leader; nil: this node leads, or is alone.
	forwarder *forwarder
	// router distributes requests among shards, and then engine is nil; nil: the requests are those of one engine.
	router *router

	// isClosed is set once, by stop, and never reset: a closed service is not opened again.
	isClosed atomic.Bool
	underWay atomic.Int64 // requests without a reply yet

	goroutines *goroutines // of the requests over NATS
	// single admits the requests for one thing, bulk the registrations of many. Both share their places among tenants.
	// In an executor for this process both are nil and admit all.
	single, bulk *gate
	// processors are shared among the tenants whose requests are costly to compute; nil for callers in this process.
	processors *processors
	// rooms bound the memory of replies, and their building. All are nil for callers in this process.
	rooms rooms
	pacer *pacer                // of the refusals over NATS; nil for callers in this process
	stats map[string]*verbStats // by verb; fixed after the start; nil: nothing is counted
}

// carrier is what an executor knows of the connection to NATS. It is an interface so that tests can bound messages
// without a connection. [*nats.Conn] implements it.
type carrier interface {
	MaxPayload() int64 // bytes of the largest message
	IsClosed() bool
}

// newExecutor returns an executor with bounds and counters. The options must be complete and valid.
func newExecutor(engine Engine, opts Options, c carrier) *Executor {
	places, g := placesOf(runtime.NumCPU(), runtime.GOMAXPROCS(0)), newGoroutines()
	x := &Executor{
		opts: opts, engine: engine, carrier: c, stats: make(map[string]*verbStats),
		goroutines: g,

		single: newGate(min(opts.RequestsMax, runningMax), opts.RequestsMax, singleBytesMax, g),
		bulk:   newGate(opts.BulkMax, opts.BulkMax+opts.BulkWaiting, bulkBytesMax, g),
		rooms:  newRooms(&opts),

		processors: newProcessors(places, piecesRate*rate.Limit(places), piecesBurst),
		pacer:      newPacer(),
	}
	for i := range verbs {
		x.stats[verbs[i].name] = newVerbStats()
	}
	return x
}

// Request is a request of a verb, as its caller wrote it. Body belongs to the way in; it must not change until the
// reply is there, because payloads point into it.
type Request struct {
	// Tenant, Asker and Host together name the party whose share of the rooms the reply uses.
	Tenant string
	// Asker.From is set by the way in and never by the caller.
	Asker job.Actor
	// Who is the caller as the way in has recognized it; the zero value is a caller without credentials.
	Who  access.Who
	Host string // for HTTP, where the request came from; otherwise ""
	Body []byte // JSON; no bytes mean {} for a verb that needs no members

	// Lag, unless nil, lets a standby answer a read from its own data, which may lag. It changes nothing on a leader, and
	// for a request that changes something. In a cluster of several shards it is told whose copies were read.
	Lag *Lag

	isSpent bool // the rate of the tenant has counted it

	// mayForward lets a standby pass the request on to the leader. The way in sets it.
	mayForward bool
	// isPart is set if the request is one of several that a request of a caller became.
	isPart bool
	// pageBytes is how large a page may become once it has an entry; 0: as large as a message.
	pageBytes int
	// stay is the work on the request in this process, or on a part of it.
	stay *stay
	// within bounds the work on the request, besides the bound of its verb; 0: no further bound.
	within time.Duration
}

// validate checks who asks and for which tenant. The way in calls it: over NATS, the tenant is read from the subject
// and checked there.
func (q *Request) validate() error {
	if err := q.Asker.Validate(); err != nil {
		return err
	}
	return job.ValidateTenant(q.Tenant)
}

// Reply is the result of a request that was carried out. The zero value is no reply. hold is nil for a refusal and
// for a caller in this process.
type Reply struct {
	Text []byte // JSON

	thing thing // that it shows
	hold  *hold // the room of the text
}

// Release frees the memory that the executor reserved for the reply. The sender of the reply calls it once, when the
// text has left. Further calls do nothing.
func (r Reply) Release() { r.hold.give() }

// arrival is a request that has arrived and is not read yet. It is a value that the way in fills and do consumes, so
// that each way in is a few lines and cannot leave out a step.
type arrival struct {
	// verb may be one that no table has, if a caller in this process named an unknown verb; then read fails.
	verb *Verb
	// via decides the histogram that counts the request, and is an attribute of its span.
	via        way
	begun      time.Time                // when it arrived
	header     func(name string) string // of the trace; nil: the caller is in this process
	isUntraced bool                     // no span is begun for it
	pass       *pass                    // of the gate of the verb, which has counted it in; nil: not yet
	waited     time.Duration            // of the time for the request, before do
	read       func() (Request, error)  // reads and validates the request; with an error, what it had read until then
}

// do carries out a request from its arrival to its result. It is the only way to the engine: each way in, over NATS,
// HTTP, from pages and in this process, differs only in how it reads a request and how it sends the reply. A refusal
// and a reply exclude each other. After a refusal nothing has to be released.
func (x *Executor) do(ctx context.Context, a arrival) (Reply, *client.Error) {
	ctx = x.trace(ctx, &a)
	q, reply, err := x.readAndCarryOut(ctx, &a)
	x.endTrace(ctx, &a, q.Tenant, err)
	return reply, x.conclude(&a, err)
}

// conclude counts a request that has ended, and returns the error that the caller receives; nil if there is none. It
// is called exactly once for each arrival, also for one that the gate refused before a goroutine was started for it.
func (x *Executor) conclude(a *arrival, err error) (refusal *client.Error) {
	code := apierr.Code("")
	if err != nil {
		refusal = x.replyError(a.verb.ofTime(err))
		code = apierr.Code(refusal.Code)
	}
	x.stats[a.verb.name].count(code, a.via, time.Since(a.begun))
	return refusal
}

// readAndCarryOut reads a request, and carries it out if the gate of its verb admits it. The request is read before
// the gate where reading is slow and has a bound of its own (HTTP); over NATS the message is in memory already, and
// the gate has admitted it.
func (x *Executor) readAndCarryOut(ctx context.Context, a *arrival) (q Request, reply Reply, err error) {
	if q, err = a.readCaught(); err == nil && a.pass == nil {
		a.pass, err = x.gateOf(a.verb).admit(x.partyOf(q.Tenant), len(q.Body))
	}
	defer a.pass.leave() // before the reply is sent, so that a caller who has the reply finds a free place for the next request
	if err == nil {
		reply, err = x.carryOut(ctx, a, q)
	}
	return q, reply, err
}

// gateOf returns the gate of a verb; nil, which bounds nothing, for callers in this process. Bulk registrations have
// a gate of their own, so that a few of them, which take seconds, do not fill that of the short requests.
func (x *Executor) gateOf(v *Verb) *gate {
	if v.Bulk {
		return x.bulk
	}
	return x.single
}

// carryOut carries out a request that the gate admitted. It is the only caller of a verb, so what must hold for every
// request, from every way in, is checked here. It reserves the room of the reply before anything is read from the
// engine. A panic becomes an internal error of this request alone. The order matters: a request waits for its turn to
// run before it waits for room, so that one that may not run yet reserves no memory; and the room comes before the
// verb, because a verb that has changed something must be able to answer.
func (x *Executor) carryOut(ctx context.Context, a *arrival, q Request) (reply Reply, err error) {
	v := a.verb
	// The bound begins here and not at the arrival, so a body that came slowly over HTTP takes nothing from the
	// work.
	ctx, cancel := x.bounded(ctx, v, q.within, a.waited)
	defer cancel()
	if err := x.Authorize(v, &q); err != nil {
		return reply, err
	}
	if err := a.pass.enter(ctx); err != nil {
		return reply, err
	}
	// From here on every way out gives the room back: the deferred function after a failure, the sender after a
	// success.
	hold, err := x.roomFor(ctx, v, &q)
	if err != nil {
		return reply, err
	}
	defer func() {
		if err != nil {
			hold.give()
			reply = Reply{}
		}
	}()
	q.stay = stayOf(v, hold)
	defer caught(&err)
	if len(q.Body) == 0 && v.mayBeEmpty {
		q.Body = []byte("{}")
	}
	switch {
	case x.router != nil:
		reply, err = x.router.route(ctx, v, &q)
	case x.forwards(v, &q):
		reply, err = x.askElsewhere(ctx, x.opts.Shard, v, &q)
	default:
		reply, err = x.serve(ctx, v, &q)
	}
	if err != nil {
		return reply, err
	}
	// The reply keeps only what it needs from now on; cap and not len, because the whole buffer stays in memory.
	reply.hold = hold
	hold.settle(cap(reply.Text))
	return reply, nil
}

// serve carries out a request with the engine of this node, and encodes the reply.
func (x *Executor) serve(ctx context.Context, v *Verb, q *Request) (reply Reply, err error) {
	if x.readsUnsure(v) {
		return reply, x.errNotWhole()
	}
	ctx = withPageBytes(x.processors.of(ctx, x.partyOf(q.Tenant)), q.pageBytes)
	if q.isPart && v == calendarPut { // the router asks the first shard for all of it, and then the others
		ctx = scheduler.AsCopy(ctx)
	}
	value, err := v.serve(x, scheduler.WithActor(withWho(x.withOrigin(ctx), q.Who), q.actor()), q.Tenant, q.Body)
	switch {
	case !x.isStale(v, err):
	case q.Lag != nil && x.opts.Unsure != nil:
		q.Lag.note(x.opts.Shard, lagOf{node: x.lag().node, millis: float64(x.opts.Unsure().Milliseconds())})
	default:
		err = apierr.Errorf(apierr.NotLeader, "", "this node may have been replaced as the leader; ask again")
	}
	if err != nil {
		return reply, x.elsewhere(v, q, err)
	}
	reply.thing = thingOf(value)
	reply.Text, err = x.encode(value)
	return reply, err
}

// bounded bounds the work on a request in time, also by the time that the way in allows; 0: no such bound. What it has
// waited is part of the time. A call in
// this process has the bounds of its caller alone. The bound keeps a request that waits for a commit from holding its
// place for as long as a disk or a cluster is stuck. It does not withdraw the change.
func (x *Executor) bounded(ctx context.Context, v *Verb, within, waited time.Duration) (context.Context, context.CancelFunc) {
	if x.carrier == nil {
		return ctx, func() {}
	}
	most := x.opts.RequestTimeout
	if v.Bulk {
		most = x.opts.BulkTimeout
	}
	if within > 0 {
		most = min(most, within)
	}
	return context.WithTimeout(ctx, most-waited)
}

// isStale reports whether a reply may be out of date: it was only read, and meanwhile another node may have led. A
// change needs no check, because its commit proves that this node led. A refusal is checked too: that a job does not
// exist is also only a reading of this node's state. It is asked after the reading, because a leadership that is
// certain then was certain at the reading.
func (x *Executor) isStale(v *Verb, err error) bool {
	// A standby says by how much it lags instead, see StateLag.
	if x.opts.Standby || x.opts.Leads == nil || x.opts.Leads() {
		return false
	}
	refusal, ok := errors.AsType[*apierr.Error](err)
	reads := strings.HasSuffix(v.name, ".get") || strings.HasSuffix(v.name, ".list")
	return err == nil && reads || ok && refusal.Code != apierr.Unavailable
}

// replyError returns the error that the caller receives. The text of an internal error goes to the log instead. It is
// the only place that logs it, so each internal error is logged once.
func (x *Executor) replyError(err error) *client.Error {
	e := PublicError(err)
	if e.Code == client.CodeInternal {
		x.opts.Logger.Error("a request failed", slog.Any("error", err))
	}
	return e
}
