package replication

import (
	"context"
	"fmt"
	"log/slog"
	"sync"
	"sync/atomic"
	"time"

	"github.com/nats-io/nats.go/jetstream"

	"github.com/carillon-io/carillon/inbox"
	"github.com/carillon-io/carillon/instant"
	"github.com/carillon-io/carillon/job"
)

// Node is one member of a cluster. It follows the leader's log, and takes over when no node leads. ID, Role,
// Status, Trust, RowsMax and Resign are safe for concurrent use. The engine that [Local.Serve] runs calls
// Append, from one goroutine.
//
// Fields belong to the loop of Run, see the package comment, unless their remark or their type says otherwise.
// Channels carry what other goroutines learn to that loop, so that all decisions about the lease are made in
// one place and in one order.
//
// Invariant: a node whose Trust is not positive launches nothing.
type Node struct {
	opts     Options // never changed: every goroutine reads it
	local    Local
	stream   *jetStream
	host     *Host
	register register
	bucket   *bucket // of the register; nil in the simulation
	author   uint64
	id       ClusterID

	// discard is whether the node's own data is to be replaced by the cluster's. After NewNode only Run changes it.
	discard atomic.Bool
	// recreates is whether this process makes the stream anew, as an operator has said. Only NewNode changes it.
	recreates bool
	// fresh is whether receiveFresh has been tried. Only Run uses it.
	fresh bool

	writer     writer
	challenger challenger
	trimmer    *trimmer
	peers      peers
	newReaders chan struct{} // has an entry when a beat told something new of a reader
	offers     *offers
	subs       []*inbox.Subscription

	seenBack time.Duration  // leaseSeen.back of the lease that was seen last
	lease    chan leaseSeen // states of the lease that the watch has seen; when it is full the watch waits, so that no state is lost
	answers  chan answer    // outcomes of the questions to the holder; when it is full they are dropped, since the next ones follow soon
	wanted   handovers      // requests for a hand-over
	pumped   chan struct{}  // capacity 1; signals the pump that there are commits to publish; only with [Options.Local]
	farthest job.Position   // how far a standby has come in the log
	progress time.Duration  // when place last advanced, or when the node was level with the leader
	stands   bool           // a standby has counted as level since it began to follow
	end      uint64         // last sequence of the stream when this node began to tail it
	first    atomic.Uint64  // LSN that a node must have to lead; see metaFirst

	stop    chan struct{} // closed by Resign
	stopped sync.Once

	unconfirmed atomic.Int64 // since when the commit in progress waits for the stream, on the boot clock; 0: no commit waits
	placedIn    atomic.Int64 // how long the stream took to confirm the last commit of this leader; 0: none yet
	// trusted is the instant until which launches may leave, on the boot clock. It is a copy of tenure.until for
	// Trust, which is called for launches and must not wait for a mutex.
	trusted    atomic.Int64
	complete   atomic.Bool  // see IsComplete
	levelAt    atomic.Int64 // see levelUntil
	heads      heads
	leadership leadership  // state of the current leadership
	begun      bool        // the engine is the leader's
	succession *succession // from the decision to lead until the lease is taken; nil: none
	// helps starts what a leadership needs beside the engine, together runs a function beside the caller, and tells publishes a note of
	// how far this node's log is durable. The simulation has its own.
	helps    func(ctx context.Context)
	together func(do func()) (wait func())
	tells    func(note []byte)

	watchers sync.WaitGroup // goroutines that run as long as Run does, in every role

	warned      warner
	copies      copies       // how far the log is durable at the standbys
	noteWanted  atomic.Bool  // the leader asks the standbys how far their logs are durable
	durable     job.Position // newest commit that is durable in this node's log and part of the cluster's; guarded by mu
	knownKeeper knownKeeper  // after Attach only keepKnownOnce uses it
	awaiting    awaiting
	above       above         // for the loop of Run
	outdone     time.Duration // since when this node waits for one that has more, see isOutdone; 0: it does not; for the loop of Run

	// mu guards the fields below and durable: what the loop of Run publishes for Status, the beats and the answers
	// to other nodes. It is never held during a request or a call of Local.
	mu          sync.Mutex
	role        string
	sure        job.Position // if doubts: newest commit that is part of the log for sure
	doubts      bool         // it has applied commits that may be no part of the log, see doubt
	term        uint64       // term of the lease that this node holds; 0: none
	lastHolder  string       // holder of the lease as last seen
	lastProcess string
	lastTerm    uint64
	known       []string      // members that were present, as it keeps them for its next start
	awaits      []string      // members for which this node waits before it leads
	awaitsLeft  time.Duration // upper bound of the remaining wait
	barred      error         // why this node must not lead; nil if it may
}

// NewNode finds the cluster or founds it, and returns a node of it. The node does nothing before [Node.Attach]
// and [Node.Run]. NewNode returns an error if the stream belongs to another cluster or is gone, or if JetStream
// refuses a request; [IsFinal] reports whether trying again can help.
//
// It starts no goroutine and leaves no subscription behind, so the caller may simply call it again after an
// error that is not final. The stream comes before the bucket, so that a node that may not enter makes no
// bucket.
func NewNode(ctx context.Context, opts Options) (*Node, error) {
	opts = opts.withDefaults()
	if err := opts.validate(); err != nil {
		return nil, err
	}
	js, err := jetstream.New(opts.Conn)
	if err != nil {
		return nil, fmt.Errorf("replication: %w", err)
	}
	n := &Node{
		opts: opts, author: authorOf(opts.Node), peers: newPeers(opts.Node), newReaders: make(chan struct{}, 1), role: roleAtFirst(opts.Shards),
		stream: newJetStream(js, opts, opts.Shard, opts.Shards),
		offers: newOffers(), lease: make(chan leaseSeen, 16), answers: make(chan answer, 4),
		pumped: make(chan struct{}, 1), stop: make(chan struct{}),
	}
	n.challenger = challenger{
		node: opts.Node, process: opts.Process, lease: opts.Lease, grace: opts.Grace, takesEarly: !opts.Local, promises: newPromises(opts),
		cautious: opts.ID != ClusterID{} && !opts.Recreate && !opts.Found && !opts.isNewShard(), seen: opts.Boot(),
	}
	n.helps, n.together = n.help, together
	n.tells = func(note []byte) { _ = opts.Conn.Publish(n.subjects().durable(), note) } // each beat repeats it
	n.discard.Store(opts.Discard)
	n.stream.first = &n.first
	n.levelUntil(opts.Boot() - behindAtFirst)
	n.trimmer = newTrimmer(opts.StreamBytesMin)
	if err := n.join(ctx); err != nil {
		return nil, err
	}
	if n.host = opts.Host; n.host == nil {
		n.host = NewHost(nil)
	}
	n.register, err = n.host.adopt(ctx, n, js)
	return n, err
}

// subjectsOf returns the subjects of a shard.
func subjectsOf(o Options) subjects { return subjects{o.Prefix, o.Shard, o.Shards > 1} }

func (n *Node) subjects() subjects { return subjectsOf(n.opts) }

// authorOf returns the number that identifies a node in its frames.
//
// The number is part of the frame's format. Two names with one number do no harm except where two nodes begin
// the same epoch at the same place, see [writer.recognise].
func authorOf(node string) uint64 {
	h := uint64(14695981039346656037) // FNV-1a
	for _, b := range []byte(node) {
		h = (h ^ uint64(b)) * 1099511628211
	}
	return h
}

// ID returns the id of the cluster.
func (n *Node) ID() ClusterID { return n.id }

// Discards reports whether the node will replace its own data by the cluster's.
func (n *Node) Discards() bool { return n.discard.Load() }

// Trust returns how long launches may still leave from now on. If it is not positive, none may. It is safe for
// concurrent use, and cheap enough to be called for each launch. It reads one atomic and the clock.
func (n *Node) Trust() time.Duration {
	return time.Duration(n.trusted.Load()) - n.opts.Boot()
}

// Attach connects the node to its log, store and engine. It is called once, before every other method except
// ID, so that Status never reads a node without them.
func (n *Node) Attach(local Local) {
	n.local = local
	n.writer = writer{
		cursor: cursor{tail: tail{cluster: n.id, next: n.opts.Next}, stream: n.stream, own: local},
		log:    local, frame: n.ownFrame, may: n.mayPublish, restore: n.restore,
		warn: func(err error) { n.warn("a commit is not in the stream yet; trying again", err) },
	}
	if !n.opts.Local { // with Local a leader applies commits that are not part of the log yet
		n.writer.applied = local.Applied
	}
	n.writer.kept = n.opts.keepsAcked
	n.await()
}

// Run follows the log, and leads when this node has the lease, until ctx ends, [Node.Resign] is called, or
// Local fails. It calls ready once: when the node leads, or when it follows without a gap.
//
// It returns nil when ctx has ended or the node has resigned, [ErrReplaced] if another process of this name
// goes on, and otherwise the failure of Local or of a subscription. When it returns, the offers of checkpoints are
// withdrawn and its goroutines have ended. The caller then closes Local and the connection.
func (n *Node) Run(ctx context.Context, ready func(role string)) error {
	ctx, cancel := context.WithCancelCause(ctx)
	if err := n.listen(ctx, cancel); err != nil {
		cancel(nil)
		return err
	}
	defer func() {
		cancel(nil)
		n.unlisten()
		n.keepKnownOnce() // what it has released
	}()
	var once sync.Once
	readyOnce := func(role string) { once.Do(func() { ready(role) }) }
	for {
		reason, err := n.follow(ctx, readyOnce)
		if err == nil {
			err = n.replaced(ctx)
		}
		if err != nil || reason == "" {
			return err
		}
		n.opts.Logger.Info("this node takes over", slog.String("reason", reason), slog.Uint64("term", n.challenger.value.Term))
		err = n.lead(ctx, readyOnce)
		// The engine has ended, or never began: from here on not even a promise that is still valid permits a launch.
		n.endTrust()
		n.followsAnew()
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
	return Frame{Cluster: n.id, Author: n.author, At: at, Prev: prev, Time: instant.Of(time.Now()), Payload: payload}, ok, err
}

// restore makes the stream anew when it has disappeared. Only the leader calls it: the leader has every commit
// that the stream held. So the new stream begins with the place of this leader's writer, and its metadata keeps
// nodes that have less from leading while the stream is empty.
func (n *Node) restore(ctx context.Context) error {
	n.opts.Logger.Error("the stream of the log is gone; the leader makes it anew", slog.String("stream", n.stream.name))
	n.trimmer.reset() // its sequences begin again
	found, err := n.stream.find(ctx)
	if err != nil || found {
		return err
	}
	return n.stream.make(ctx, n.opts.Cluster, n.id, n.writer.at.LSN)
}
