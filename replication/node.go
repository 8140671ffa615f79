package replication

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"sync/atomic"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"github.com/carillon-io/carillon/job"
)

// Node is one member of a cluster. It follows the log of whoever leads, and leads when nobody does.
type Node struct {
	opts   Options
	local  Local
	stream *jetStream
	bucket register
	author uint64
	id     ClusterID

	writer  writer
	rival   rival
	trimmer *trimmer
	peers   peers
	offers  offers
	subs    []*nats.Subscription

	lease    chan leaseSeen // what the watch of the lease saw
	answers  chan answer    // what became of questions to the holder
	wanted   chan handover  // hand-overs that were asked for
	pumped   chan struct{}  // of one place: there is something to publish, where commits count without
	place    job.Position   // of a follower
	progress time.Duration  // when that place last moved, or was the end
	end      uint64         // of the stream, when it began to read on

	stop    chan struct{} // closed by Resign
	stopped sync.Once

	trusted atomic.Int64 // until when launches may leave, on the boot clock
	reign   reign        // while it leads

	watchers sync.WaitGroup

	mu         sync.Mutex
	role       string
	term       uint64 // that this node holds; 0 is none
	lastHolder string // of the lease, as seen last
	lastTerm   uint64
	warned     map[string]time.Time
}

// NewNode finds the cluster, or founds it, and returns a node of it that does nothing before [Node.Attach] and
// [Node.Run]. Its errors say what is in the way: the stream is another cluster's, or is gone,
// or JetStream does not do what is needed.
func NewNode(ctx context.Context, opts Options) (*Node, error) {
	opts = opts.withDefaults()
	if err := opts.validate(); err != nil {
		return nil, err
	}
	js, err := jetstream.New(opts.Conn)
	if err != nil {
		return nil, fmt.Errorf("replication: %w", err)
	}
	name := StreamName(opts.Prefix, opts.Shard)
	n := &Node{
		opts: opts, author: authorOf(opts.Node), peers: newPeers(), role: RoleStandby, warned: make(map[string]time.Time),
		stream: &jetStream{
			js: js, name: name, subject: subjectsOf(opts).log(),
			config: streamConfig(name, subjectsOf(opts).log(), opts.Replicas, opts.StreamBytesMax),
		},
		lease: make(chan leaseSeen, 16), answers: make(chan answer, 4), wanted: make(chan handover, 1),
		pumped: make(chan struct{}, 1), stop: make(chan struct{}),
	}
	n.rival = rival{
		node: opts.Node, lease: opts.Lease, grace: opts.Grace, swift: !opts.Local,
		cautious: opts.ID != ClusterID{} && !opts.Recreate, seen: opts.Boot(),
	}
	n.trimmer = newTrimmer(opts.StreamBytesMin)
	if err := n.join(ctx); err != nil {
		return nil, err
	}
	n.bucket, err = openBucket(ctx, js, fmt.Sprintf("CARILLON_LEASE_%s", opts.Prefix), fmt.Sprintf("shard.%d", opts.Shard), opts.Replicas)
	if err != nil {
		return nil, err
	}
	return n, n.unique(ctx)
}

// subjectsOf names the subjects of a shard.
func subjectsOf(o Options) subjects { return subjects{prefix: o.Prefix, shard: o.Shard} }

func (n *Node) subjects() subjects { return subjectsOf(n.opts) }

// authorOf returns the number that stands for a node in its frames.
func authorOf(node string) uint64 {
	h := uint64(14695981039346656037) // FNV-1a
	for _, b := range []byte(node) {
		h = (h ^ uint64(b)) * 1099511628211
	}
	return h
}

// ErrStreamGone says that the stream of a cluster that this node belongs to is not there.
var ErrStreamGone = errors.New("replication: the stream of the cluster is gone")

// join binds to the stream, or makes it for a new cluster.
func (n *Node) join(ctx context.Context) error {
	found, err := n.stream.find(ctx)
	if err != nil {
		return err
	}
	known := n.opts.ID != ClusterID{}
	switch {
	case found:
		n.id, err = n.stream.owner(n.opts.Cluster)
		if err == nil && known && n.id != n.opts.ID {
			err = fmt.Errorf("%w: the stream %s is that of %s, and the data of this node that of %s; use an empty data directory, or another prefix", ErrOtherCluster, n.stream.name, n.id, n.opts.ID)
		}
		return err
	case known && !n.opts.Recreate:
		return fmt.Errorf("%w: there is no stream %s, and the data of this node was replicated by it; if this node has the newest data of the cluster, start it with --recreate-stream", ErrStreamGone, n.stream.name)
	}
	if n.id = n.opts.ID; !known {
		n.id = newClusterID()
	}
	if err := n.stream.make(ctx, n.opts.Cluster, n.id); err != nil {
		return err
	}
	// Two nodes may have made it at the same time: what the stream says counts.
	if found, err = n.stream.find(ctx); err != nil || !found {
		return errors.Join(err, fmt.Errorf("replication: the stream %s is not there yet", n.stream.name))
	}
	n.id, err = n.stream.owner(n.opts.Cluster)
	return err
}

// ID returns the id of the cluster.
func (n *Node) ID() ClusterID { return n.id }

// Trust returns how long launches may still leave from now on; none if it is not positive. It is safe
// for concurrent use, and cheap.
func (n *Node) Trust() time.Duration {
	return time.Duration(n.trusted.Load()) - n.opts.Boot()
}

// Attach gives the node what it keeps. It is called once, before anything else but ID, so that a reader of the
// status finds all that it reads.
func (n *Node) Attach(local Local) {
	n.local = local
	n.writer = writer{
		cursor: cursor{tail: tail{cluster: n.id, next: n.opts.Next}, stream: n.stream, own: local},
		log:    local, frame: n.ownFrame, restore: n.restore,
		warn: func(err error) { n.warn("a commit is not in the stream yet; trying again", err) },
	}
}

// Run is the life of the node: it follows, and leads when it is its turn, until ctx ends, Resign was
// called, or its Local fails. It calls ready once, when it leads or follows without a gap.
func (n *Node) Run(ctx context.Context, ready func(role string)) error {
	ctx, cancel := context.WithCancel(ctx)
	if err := n.listen(ctx); err != nil {
		cancel()
		return err
	}
	defer func() {
		cancel()
		n.silence()
	}()
	var once sync.Once
	tell := func(role string) { once.Do(func() { ready(role) }) }
	for {
		reason, err := n.follow(ctx, tell)
		if err != nil || reason == "" {
			return err
		}
		n.opts.Logger.Info("this node takes over", slog.String("reason", reason), slog.Uint64("term", n.rival.value.Term))
		err = n.lead(ctx, tell)
		n.trusted.Store(0)
		if err != nil {
			return err
		}
		if n.resigned() {
			return nil
		}
	}
}

// ownFrame returns a commit of the node's own log as a frame.
func (n *Node) ownFrame(lsn uint64) (Frame, bool, error) {
	at, prev, payload, ok, err := n.local.Read(lsn)
	return Frame{Cluster: n.id, Author: n.author, At: at, Prev: prev, Time: job.MillisOf(time.Now()), Payload: payload}, ok, err
}

// restore makes a stream anew that is gone under the leader, who has all that it held.
func (n *Node) restore(ctx context.Context) error {
	n.opts.Logger.Error("the stream of the log is gone; the leader makes it anew", slog.String("stream", n.stream.name))
	n.trimmer.reset() // its sequences begin again
	found, err := n.stream.find(ctx)
	if err != nil || found {
		return err
	}
	return n.stream.make(ctx, n.opts.Cluster, n.id)
}
