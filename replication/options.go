package replication

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"time"

	"github.com/nats-io/nats.go"

	"github.com/carillon-io/carillon/inbox"
	"github.com/carillon-io/carillon/job"
)

// Options configure a [Node]. Conn, Cluster, Node, History and Next are required; every other field has a
// default for its zero value.
type Options struct {
	Conn    *nats.Conn // carries the log, the lease and the messages between nodes; the caller closes it
	Prefix  string     // first token of the subjects; default "carillon"
	Cluster string     // name of the cluster
	Node    string     // name of this node, unique in the cluster: one token of a subject
	Process string     // distinguishes this process from another one of the same node; default [NewProcess]
	Shard   uint32     // number of the shard whose log is replicated
	Shards  int        // how many shards the cluster has, for ever; 0: one
	Host    *Host      // what the members of this process share; nil: a host of its own, for the only member
	ID      ClusterID  // cluster that the node's data belongs to; zero: none yet

	// Local makes a commit count as soon as it is durable on the leader; the standbys receive it later. If the
	// leader dies, acknowledged commits can be lost. Otherwise a commit counts when the stream has it as well.
	Local bool

	// Replicas is the number of replicas of the stream and of the lease's bucket, if this node makes them; 0 means
	// 3. With one replica, the log waits while the one server that has it is away.
	Replicas int
	// ReplicasWanted returns how many replicas the stream and the bucket should have now: [Node.Status] warns of fewer. Nil:
	// Replicas.
	ReplicasWanted func() int
	// IsMember reports whether NATS counts the server of a node that this cluster does not know any more. An error of package
	// apierr is what the operator learns; another one means that NATS does not say. Nil: NATS counts none.
	IsMember func(ctx context.Context, node string) (bool, error)
	// Forget lets NATS forget the server of a node that an operator has taken out of the cluster, and returns when that is done, with
	// what NATS has still to do; "" if nothing. The process that leads shard 0 calls it. Nil: NATS counts none.
	Forget func(ctx context.Context, node string) (pending string, err error)
	// StreamBytesMax is the size in bytes from which the stream drops its oldest messages, even if a node still
	// needs them; 0 means 1 GiB. The node that needed them receives a checkpoint. A bound that refused new messages
	// instead would stop the leader for the sake of a node that is away. NATS reserves this space.
	StreamBytesMax int64
	// StreamBytesMin is how many bytes the stream keeps for nodes that return, even if no node needs them at
	// present; 0 means 64 MiB, or half of StreamBytesMax if that is less. A larger value spares a node that was away
	// for long a checkpoint, and costs disk on each NATS server.
	StreamBytesMin int64

	// Recreate lets this node make the stream anew although its data records that a stream existed. The node
	// leads with the commits that it has; commits that it lacks are lost.
	Recreate bool
	// RecreatedElsewhere says that another node makes the stream anew, if it is gone: this one waits for it.
	RecreatedElsewhere bool

	// History is the log of this node. [NewNode] reads it.
	History History
	// Own says that the node has data and that this data belongs to no cluster yet. Such a node may only join a
	// cluster whose log contains its own log.
	Own bool
	// OwnShards is how many shards the node has data of, if Own: from 0 on, without a gap; 0: one, or not so. Only [Divide]
	// reads it. A node with data of several shards joins if it has all, and the caller asks [CheckOwn] for each.
	OwnShards int
	// Found lets the node found the cluster ID: it makes the stream, and the other nodes receive its data.
	Found bool
	// Begins has the LSN of the data of each shard of a founder whose data is divided into several. Nil: it is that of one
	// shard. Only [Divide] reads it.
	Begins []uint64
	// GiveUp is the cluster whose log in NATS a founder may delete, provided that no node of that cluster is
	// alive. Zero: none.
	GiveUp ClusterID
	// GiveUpLoses is how many commits of that log may be lost because the founder's data lacks them; 0: none.
	GiveUpLoses uint64
	// DividedFrom is where the data ended that was divided into Begins: LSN and epoch. Zero: the data was not divided since it was
	// a node's, or a release did that which did not keep it.
	DividedFrom job.Position
	// Discard lets the node replace its own data by that of a cluster to which the data does not belong.
	Discard bool

	// Synced reports whether NATS is known to have on disk what it has acknowledged. If it returns false or is
	// nil, a node that starts and finds no leader waits for the members that it knows, because one of them may
	// have commits that NATS has lost. LeadAlone turns this wait off.
	Synced    func() bool
	LeadAlone bool
	Await     time.Duration // bound of this wait; default 45 s

	// Lease is the time without a renewal after which any node may claim the lease; 0 means 15 s. It exceeds an
	// election among NATS servers, 4 to 9 s, during which no renewal succeeds: a shorter lease would depose a healthy
	// leader at each election. A longer one delays the takeover by a node that is not an heir.
	Lease time.Duration
	// Margin is the part of Lease that the holder does not use, since clocks run at different rates; 0 means 2 s.
	// So it bounds by how much two clocks may drift apart during one lease.
	Margin time.Duration
	// Grace is how long a leader without promises may launch after a renewal, and how long challengers wait at
	// least; 0 means 500 ms. A longer grace bridges longer interruptions of the network. But runs launched within
	// one grace before a fault may be launched a second time, and every takeover from a silent holder waits
	// for one.
	Grace time.Duration

	// Copies is how many nodes hold a copy of each of several shards but the first, of which every node holds one; 0 means 2.
	// It is to be the same on all nodes: that of the leader of shard 0 counts.
	Copies int
	// Weight is the capacity of this node, relative to that of the others: it holds and leads that many times as many
	// shards as a node with the weight 1. 0 means 1.
	Weight uint32
	// Zone names what fails together with this node, as a rack or a site: copies of a shard are kept in different zones
	// where that can be. "": the node is in no zone.
	Zone string
	// SpreadEvery is the time between two hand-overs by which a node that leads too many of several shards lets others lead
	// them; 0 means 3 s, a negative time never.
	SpreadEvery time.Duration
	// PlaceEvery is the time between two looks of the leader of shard 0 at the places of the shards; 0 means 500 ms.
	PlaceEvery time.Duration

	// Inboxes restricts the reply subjects on which this node answers others; nil: only the usual inboxes.
	Inboxes *inbox.Rule

	// Audit adds an operation of an operator to the audit log of the shard, which this process leads; it is called before the
	// operation is carried out, and an error refuses it. nil: there is no audit log.
	Audit func(context.Context, Operation) error

	// Load returns how many jobs the shard of a leader has, and how many of its runs fire on time a second, which the beats of
	// a cluster of several shards say. It must be safe for concurrent use, and cheap. nil: they say 0.
	Load func() (jobs int, usual float64)

	Release string // release of this program, which the beats carry to the other nodes
	rows    byte   // newest version of rows that this program reads; job.RowsVersion but in tests

	// Next computes the position of a commit; see [Next].
	Next Next
	// Server is the name of the NATS server that ends with this process, and Leaders returns which server leads each stream,
	// as far as that server knows. "" and nil: the process has no NATS server of its own.
	Server  string
	Leaders func() map[string]string
	// Boot reads a clock that only runs forward and does not stop while the machine sleeps. Trust depends on
	// it: a clock that stopped would let a leader launch after its lease has ended. Default: the monotonic
	// clock of the process.
	Boot   func() time.Duration
	Logger *slog.Logger // default slog.Default()
}

// CopiesDefault is how many copies of a shard there are, unless [Options.Copies] says otherwise: the least with which no death
// of a node loses one.
const CopiesDefault = 2

func (o Options) withDefaults() Options {
	setDefault(&o.Prefix, "carillon")
	setDefault(&o.Replicas, 3)
	setDefault(&o.Shards, 1)
	setDefault(&o.Process, NewProcess())
	setDefault(&o.StreamBytesMax, 1<<30)
	setDefault(&o.StreamBytesMin, min(64<<20, o.StreamBytesMax/2))
	setDefault(&o.Lease, 15*time.Second)
	setDefault(&o.Margin, 2*time.Second)
	setDefault(&o.Grace, 500*time.Millisecond)
	setDefault(&o.Await, 45*time.Second)
	setDefault(&o.Copies, CopiesDefault)
	setDefault(&o.Weight, 1)
	setDefault(&o.SpreadEvery, 3*time.Second)
	setDefault(&o.PlaceEvery, 500*time.Millisecond)
	setDefault(&o.rows, job.RowsVersion)
	setDefault(&o.Logger, slog.Default())
	if o.Boot == nil {
		// No reading is 0, because 0 stands for "never" in the state of this package.
		start := time.Now()
		o.Boot = func() time.Duration { return time.Since(start) + 1 }
	}
	return o
}

// isNewShard reports whether this is a shard without a commit, of several. Its process knows the cluster by another shard;
// the shard itself is as new as a node that has never met one.
func (o Options) isNewShard() bool { return o.Shards > 1 && o.History.Last() == job.Position{} }

// replicas returns how many replicas the stream and the bucket should have now.
func (o *Options) replicas() int {
	if o.ReplicasWanted == nil {
		return o.Replicas
	}
	return o.ReplicasWanted()
}

func setDefault[T comparable](v *T, d T) {
	var zero T
	if *v == zero {
		*v = d
	}
}

var errOptions = errors.New("replication: options")

func (o Options) validate() error {
	switch {
	case o.Conn == nil || o.Next == nil || o.History == nil || o.Cluster == "" || o.Node == "":
		return fmt.Errorf("%w: Conn, Next, History, Cluster and Node are required", errOptions)
	// An heir waits stillGraces graces for a silent holder. With a shorter lease the lease would end first, and
	// being an heir would gain nothing.
	case o.Margin >= o.Lease || stillGraces*o.Grace >= o.Lease:
		return fmt.Errorf("%w: the margin %s must be shorter than the lease %s, and so must %d times the grace %s", errOptions, o.Margin, o.Lease, stillGraces, o.Grace)
	case job.ValidateShards(o.Shards) != nil || int64(o.Shard) >= int64(o.Shards):
		return fmt.Errorf("%w: there is no shard %d of %d", errOptions, o.Shard, o.Shards)
	case o.Copies < 1 || o.Copies > peersMost:
		return fmt.Errorf("%w: %d copies of a shard; want 1 to %d", errOptions, o.Copies, peersMost)
	case o.StreamBytesMin > o.StreamBytesMax/2:
		return fmt.Errorf("%w: a stream of at most %d bytes cannot keep %d; want at most half", errOptions, o.StreamBytesMax, o.StreamBytesMin)
	}
	return nil
}
