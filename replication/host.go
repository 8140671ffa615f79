package replication

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"sync/atomic"
	"time"

	"github.com/nats-io/nats.go/jetstream"

	"github.com/carillon-io/carillon/inbox"
	"github.com/carillon-io/carillon/job"
)

// Host is what the members of one process share, however many shards it has: one beat to the other nodes, one question
// to each node that leads a shard, and one lease, so that a shard more costs an idle process next to nothing. A process
// has one Host; with one shard each member may have its own. Safe for concurrent use.
//
// With one shard the messages and the lease are those of releases that know no other number, see beat, holderQuestion and
// shardLease. With several, the host has subjects of its own, and hostLease renews the leases of all shards at once.
type Host struct {
	mu       sync.Mutex
	opts     Options // of the first member
	id       ClusterID
	bucket   *bucket
	keys     keys // those of the bucket
	ties     ties
	lease    *hostLease // nil with one shard
	places   *places    // of all shards but the first; empty with one shard
	members  map[uint32]*hosted
	nodes    map[string]heardNode    // of several shards: at most peersMost
	ended    map[endedMember]leaving // of several shards: at most endedMost; see leaving
	began    time.Duration           // when it began to listen
	atStart  []string                // see mates
	placed   chan struct{}           // see Placed
	asks     chan *inbox.Request     // of operators, about the places
	log      *slog.Logger
	warned   warner
	skews    skews
	twin     twin
	seats    seatsSeen
	distant  distances
	askSoon  chan struct{} // capacity 1; has an entry when an answer took long, so that the next question is due
	settings settingsSeen

	beating sync.Mutex // held while a beat is made and published
	sent    atomic.Pointer[sentBeat]
	keeping sync.Mutex // held while members keep what they know
	subs    []*inbox.Subscription
	stop    context.CancelFunc // nil: no member listens
	work    sync.WaitGroup
}

// hosted is a member that listens.
type hosted struct {
	*Node
	end    context.CancelCauseFunc // ends it
	asker  asker
	asking bool         // a question for it is under way; guarded by the host's mutex
	goes   job.Position // where its log ended when it was first found that its copy may go; guarded by the host's mutex
	told   answer       // that was passed on to it last, and when; they belong to the question under way
	toldAt time.Duration
}

// NewHost returns a host without members, with a logger for what is about no shard alone; nil: that of the first member. The
// options of the first member say where the messages of the host go.
func NewHost(log *slog.Logger) *Host {
	return &Host{
		log: log, members: make(map[uint32]*hosted), nodes: make(map[string]heardNode), ended: make(map[endedMember]leaving), placed: make(chan struct{}, 1), asks: make(chan *inbox.Request, asksMost), askSoon: make(chan struct{}, 1), twin: twin{beats: make(chan beat, 1)},
	}
}

var errOtherHost = errors.New("replication: the members of a process must agree")

// adopt opens for the first member what all members share, and returns the register of the member's lease. The name of
// the node must be free among the other processes.
func (h *Host) adopt(ctx context.Context, n *Node, js jetstream.JetStream) (register, error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	o := &n.opts
	if h.bucket == nil {
		bucket, err := openBucket(ctx, js, o)
		if err != nil {
			return nil, err
		}
		h.opts, h.id = *o, n.id
		h.opts.Logger = cmp.Or(h.log, o.Logger)
		h.ties = natsTies{&h.opts}
		if err := h.unique(ctx); err != nil {
			return nil, err
		}
		h.bucket, h.keys = bucket, bucket
		h.places = newPlaces(n.id.String(), o.Shards)
		if o.Shards > 1 {
			h.lease = newHostLease(&h.opts, n.id, bucket, h.places, h.warn)
		}
	}
	if h.opts.Shards != o.Shards || h.id != n.id || h.opts.Node != o.Node || h.opts.Process != o.Process {
		return nil, fmt.Errorf("%w on the node, the cluster and the number of shards", errOtherHost)
	}
	n.bucket = h.bucket
	if h.lease == nil {
		return &shardLease{h.bucket, keyOfShard(o.Shard)}, nil
	}
	return (&memberLease{h.lease, o.Shard}).of(n), nil
}

// errNameTaken says that another process runs under this node's name.
var errNameTaken = errors.New("replication: a node of this name is in the cluster already")

// unique returns an error if another process answers under this node's name. It runs before this process answers
// that question itself. Two processes that start at the same moment both pass; watchTwin finds them.
func (h *Host) unique(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, callTimeout)
	defer cancel()
	if h.isThere(ctx, h.opts.Node) {
		return fmt.Errorf("%w: %q; give each node a name of its own (--node)", errNameTaken, h.opts.Node)
	}
	return nil
}

// enter begins to listen for a member. end ends the member if another process of the node's name is to go on.
func (h *Host) enter(n *Node, end context.CancelCauseFunc) error {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.members[n.opts.Shard] != nil {
		return fmt.Errorf("%w: there are two of shard %d", errOtherHost, n.opts.Shard)
	}
	if h.stop == nil {
		if err := h.begin(); err != nil {
			return err
		}
	}
	h.members[n.opts.Shard] = &hosted{Node: n, end: end}
	return nil
}

// begin subscribes to what the host hears, and starts its loops. The caller holds the mutex.
func (h *Host) begin() error {
	desk := inbox.NewDesk(h.opts.Conn, h.opts.Inboxes, h.opts.Logger)
	names := subjectsOf(h.opts)
	handlers := map[string]func(*inbox.Request){
		names.beat():                       h.hearBeat,
		names.host(h.opts.Node, askHolder): h.answerHolder,
		names.host(h.opts.Node, askYield):  h.answerYield,
		names.place():                      h.answerPlace,
	}
	for subject, handle := range handlers {
		sub, err := desk.Subscribe(subject, handle)
		if err != nil {
			h.unsubscribe()
			return fmt.Errorf("replication: subscribe to %s: %w", subject, err)
		}
		h.subs = append(h.subs, sub)
	}
	ctx, stop := context.WithCancel(context.Background())
	h.stop, h.began = stop, h.opts.Boot()
	h.work.Go(func() { h.beatAll(ctx) })
	h.work.Go(func() { h.keepAll(ctx) })
	h.work.Go(func() { h.askAll(ctx) })
	h.work.Go(func() { h.watchTwin(ctx) })
	h.work.Go(func() { h.watchSettings(ctx) })
	h.work.Go(func() { h.answerPlaces(ctx) })
	if h.lease != nil {
		h.work.Go(func() { h.lease.watchAll(ctx) })
		h.work.Go(func() { h.lease.renewAll(ctx) })
		h.work.Go(func() { h.watchPlaces(ctx) })
		h.work.Go(func() { h.reviewAll(ctx) })
		h.work.Go(func() { h.driveAll(ctx) })
	}
	return nil
}

func (h *Host) unsubscribe() {
	for _, sub := range h.subs {
		_ = sub.Unsubscribe()
	}
	h.subs = nil
}

// leave ends what enter began. After the last member the host's goroutines have ended, so that no beat follows the note
// of the member that it ends.
func (h *Host) leave(n *Node) {
	h.mu.Lock()
	delete(h.members, n.opts.Shard)
	last := len(h.members) == 0 && h.stop != nil
	if last {
		h.unsubscribe()
		h.stop()
		h.stop = nil
	}
	h.mu.Unlock()
	if last {
		h.work.Wait()
	}
	h.beating.Lock() // a beat that has this member is published before the note that it ends
	defer h.beating.Unlock()
	h.keeping.Lock() // from here on only the member keeps what it knows
	defer h.keeping.Unlock()
}

func (h *Host) warn(what string, err error) { h.warned.warn(h.opts.Logger, what, err) }

// all returns the members that listen, in the order of their shards.
func (h *Host) all() (list []*hosted) {
	h.mu.Lock()
	defer h.mu.Unlock()
	for n := range uint32(h.opts.Shards) {
		if m := h.members[n]; m != nil {
			list = append(list, m)
		}
	}
	return list
}

// member returns the member of a shard; nil if none listens.
func (h *Host) member(shard uint32) *hosted {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.members[shard]
}

// resigns reports whether a member of this process is to end.
func (h *Host) resigns() bool {
	for _, m := range h.all() {
		if m.resigned() {
			return true
		}
	}
	return false
}
