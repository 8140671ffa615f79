package api

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"

	"github.com/nats-io/nats.go"

	"github.com/carillon-io/carillon/apierr"
	"github.com/carillon-io/carillon/client"
	"github.com/carillon-io/carillon/job"
	"github.com/carillon-io/carillon/scheduler"
)

// Shards are the shards of a cluster, as one of its nodes sees them. Safe for concurrent use.
type Shards interface {
	// Count returns the number of shards: a power of two, at least 2. It never changes.
	Count() int
	// Leader returns the executor of the service with which this process leads a shard; nil if another node leads the
	// shard, or none.
	Leader(shard uint32) *Executor
	Leaders
	// FollowedBy returns the processes that follow a shard by what this one has heard in the last moments.
	FollowedBy(shard uint32) (processes []string)
	// Copy returns the executor of the service of this process for a shard, whether it leads there or stands by; nil if
	// this process has no copy of the shard.
	Copy(shard uint32) *Executor
}

// router gives each request to the shard that it is about, and assembles replies from several shards. It has no
// state: each request finds its leader anew, in this process or by asking over NATS. Its fields are fixed.
//
// A request has passed the gates, the rooms and the rights of this node when it comes here. A leader in this process
// is called directly. A leader elsewhere gets a forwarded request, and passes it through its own gates and rights.
type router struct {
	shards Shards
	count  int       // of the shards
	front  *Executor // of the router's own service; it has no engine
	// lines has a channel for each shard, with an element for each request that waits for a leader in another process.
	lines []chan struct{}
}

// NewRouter subscribes to the subjects of every verb, <prefix>.v1.<tenant>.<verb>, for a cluster of several shards,
// and answers each request by asking the leaders of the shards, until Close. The executor of the service serves HTTP
// and pages in the same way. Each node of the cluster has a router: any of them takes any request. The options Shard,
// Shards, Standby and Leads are those of the services of single shards, and have no effect here. Otherwise it is like
// [NewService].
func NewRouter(nc *nats.Conn, shards Shards, opts Options) (*Service, error) {
	count := shards.Count()
	if err := job.ValidateShards(count); err != nil || count < 2 {
		return nil, fmt.Errorf("api: a router for %d shards; want a power of two from 2 to %d", count, job.ShardsMax)
	}
	opts.Shard, opts.Shards, opts.Standby, opts.Leads, opts.Whole, opts.Unsure = 0, 0, false, nil, nil, nil
	s, err := newService(nc, nil, opts)
	if err != nil {
		return nil, err
	}
	s.executor.forwarder = &forwarder{nc: nc, opts: &s.opts, leaders: shards, failed: shardFailed}
	s.executor.router = &router{lines: newLines(count), shards: shards, count: count, front: s.executor}
	if err := s.open(); err != nil {
		return nil, err
	}
	return s, nil
}

// routeFunc carries out a request by asking shards.
type routeFunc func(r *router, ctx context.Context, v *Verb, q *Request) (Reply, error)

// routes has the way of each verb. The verbs that are about one job or run go to its shard; the others have a function
// of their own.
var routes = map[string]routeFunc{
	"jobs.put":      byName("name"),
	"jobs.get":      byName("name"),
	"jobs.delete":   byName("name"),
	"jobs.pause":    byName("name"),
	"jobs.resume":   byName("name"),
	"jobs.trigger":  byName("name"),
	"jobs.backfill": byName("name"),
	"jobs.put_many": (*router).putMany,
	"jobs.list":     (*router).listJobs,

	"runs.get":     byRun,
	"runs.report":  byRun,
	"runs.extend":  byRun,
	"runs.cancel":  byRun,
	"runs.retry":   byRun,
	"runs.dismiss": byRun,
	"runs.list":    ofJobOr((*router).listRuns),

	"runs.retry_many":   ofJobOr((*router).retryMany),
	"runs.dismiss_many": ofJobOr((*router).dismissMany),

	"calendars.put":    (*router).putCalendar,
	"calendars.delete": (*router).deleteCalendar,
	"calendars.get":    toFirst,
	"calendars.list":   toFirst,
	"schedules.next":   toFirst,

	"audit.list": (*router).listAudit,
	"status":     (*router).status,
	"whoami":     here,
}

// route carries out a request.
func (r *router) route(ctx context.Context, v *Verb, q *Request) (Reply, error) {
	return routes[v.name](r, ctx, v, q)
}

// ask has the leader of a shard carry out a request, or, if it is a read that may lag, a node with a copy of the shard.
// ctx must have a deadline. A panic becomes an error, so that ask may be called on any goroutine.
func (r *router) ask(ctx context.Context, shard uint32, v *Verb, q *Request) (reply Reply, err error) {
	defer caught(&err)
	if v.reads && q.Lag != nil {
		return r.askCopy(ctx, shard, v, q)
	}
	return r.askLeader(ctx, shard, v, q)
}

// askLeader has the leader of a shard carry out a request, in this process or over NATS.
func (r *router) askLeader(ctx context.Context, shard uint32, v *Verb, q *Request) (Reply, error) {
	leader := r.shards.Leader(shard)
	if leader == nil || !leader.Enter() {
		leave, err := r.enterLine(ctx, shard, q)
		if err != nil {
			return Reply{}, err
		}
		defer leave()
		return r.front.askElsewhere(ctx, shard, v, q)
	}
	defer leader.Leave()
	return leader.serve(ctx, v, q)
}

// askPart asks a shard for its part of a request, with another body.
func (r *router) askPart(ctx context.Context, shard uint32, v *Verb, q *Request, body []byte) (Reply, error) {
	part := *q
	part.Body, part.isPart = body, true
	return r.ask(ctx, shard, v, &part)
}

// askedAtOnce is how many shards one request asks at a time. A shard answers within milliseconds, and more answers at a
// time would take more memory.
const askedAtOnce = 16

// inParallel calls f for each shard of a list with a part of a request, on goroutines of their own, and waits for all. It fails if
// the request may not go on in time.
func inParallel(ctx context.Context, q *Request, shards []uint32, f func(shard uint32, part *Request)) error {
	for some := range slices.Chunk(shards, askedAtOnce) {
		var all sync.WaitGroup
		stays := q.stay.split(len(some))
		for i, shard := range some {
			part := *q
			part.stay = stays[i]
			all.Go(func() {
				defer part.stay.leave()
				f(shard, &part)
			})
		}
		all.Wait()
		if err := q.stay.back(ctx); err != nil {
			return err
		}
	}
	return nil
}

// all returns the numbers of the shards from first on.
func (r *router) all(first uint32) []uint32 {
	var list []uint32
	for shard := first; int(shard) < r.count; shard++ {
		list = append(list, shard)
	}
	return list
}

// unchanged ends the refusal of a request that has had no effect.
const unchanged = "; nothing has changed, ask again later"

// errNoLeader is in the error of a request that no leader has got, so that nothing has changed for certain.
var errNoLeader = errors.New("no leader")

// shardFailed returns what the caller of a router learns of a request that got no reply of a leader. Without a
// responder nothing has changed; after anything else that is unknown.
func shardFailed(shard uint32, v *Verb, err error) error {
	if errors.Is(err, nats.ErrNoResponders) {
		return noLeader(shard)
	}
	return v.unanswered(fmt.Sprintf("the leader of shard %d %s", shard, noAnswer(err)), err)
}

// noLeader returns the refusal of a request for a shard that has no leader.
func noLeader(shard uint32) error {
	return fmt.Errorf("%w: %w", errNoLeader, apierr.Errorf(apierr.Unavailable, "", "shard %d has no leader at the moment%s", shard, unchanged))
}

// isAway reports whether an error means that a shard has no leader now, or none that answers.
func isAway(err error) bool {
	if err == nil {
		return false
	}
	code := PublicError(err).Code
	return code == client.CodeUnavailable || code == client.CodeNotLeader
}

// engineStatus returns the status of the engine. A router has none: it leads if this process leads a shard.
func (x *Executor) engineStatus() scheduler.Status {
	switch {
	case x.router == nil:
		return x.engine.Status()
	case x.router.leadsAny():
		return scheduler.Status{Role: "leader"}
	default:
		return scheduler.Status{Role: "standby"}
	}
}

// leadsAny reports whether this process leads a shard.
func (r *router) leadsAny() bool {
	return slices.ContainsFunc(r.all(0), func(shard uint32) bool { return r.shards.Leader(shard) != nil })
}
