package replication

import (
	"errors"
	"fmt"
	"log/slog"
	"time"

	"github.com/nats-io/nats.go"

	"github.com/carillon-io/carillon/inbox"
)

// Options set up a [Node]. Conn, Cluster, Node and Next are required; every other zero value is a
// default.
type Options struct {
	Conn    *nats.Conn // for the log, the lease and the other nodes; it stays the caller's
	Prefix  string     // first token of the subjects; default "carillon"
	Cluster string     // name of the cluster
	Node    string     // name of this node, unique in the cluster: one token of a subject
	Shard   uint32     // whose log it is
	ID      ClusterID  // of the cluster that the node's data belongs to; zero: of none yet

	// Local makes commits count when they are durable here; the others get them when they can. A node
	// that dies may take acknowledged commits with it then. Otherwise a commit counts when the stream has
	// it as well.
	Local bool

	Replicas       int   // of the stream and the lease, if they have to be made; default 3
	StreamBytesMax int64 // where the stream begins to lose its oldest messages, whoever needs them; default 1 GiB
	StreamBytesMin int64 // what it keeps for those who come back, though nobody needs it; default 64 MiB

	// Recreate lets this node make the stream anew though its data says that there was one: it leads with
	// what it has, and what it lacks is lost.
	Recreate bool

	Lease  time.Duration // how long a holder of the lease may be silent; default 15 s
	Margin time.Duration // of it, for clocks that run at different rates; default 2 s
	Cutoff time.Duration // how long a leader launches without a way to the others; default 250 ms
	Grace  time.Duration // how long nobody answers for a leader until it counts as dead; default 500 ms

	// Inboxes says where the replies to other nodes may go; nil: to the usual inboxes.
	Inboxes *inbox.Rule

	Next Next
	// Linked tells whether there is a way to the others, besides the connection's being up; nil: there is.
	Linked func() bool
	// Boot reads a clock that only runs forward and does not stop while the machine sleeps. Default: the
	// monotonic clock of the process.
	Boot   func() time.Duration
	Logger *slog.Logger // default slog.Default()
}

func (o Options) withDefaults() Options {
	setDefault(&o.Prefix, "carillon")
	setDefault(&o.Replicas, 3)
	setDefault(&o.StreamBytesMax, 1<<30)
	setDefault(&o.StreamBytesMin, min(64<<20, o.StreamBytesMax/2))
	setDefault(&o.Lease, 15*time.Second)
	setDefault(&o.Margin, 2*time.Second)
	setDefault(&o.Cutoff, 250*time.Millisecond)
	setDefault(&o.Grace, 500*time.Millisecond)
	setDefault(&o.Logger, slog.Default())
	if o.Linked == nil {
		o.Linked = func() bool { return true }
	}
	if o.Boot == nil {
		start := time.Now()
		o.Boot = func() time.Duration { return time.Since(start) + 1 }
	}
	return o
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
	case o.Conn == nil || o.Next == nil || o.Cluster == "" || o.Node == "":
		return fmt.Errorf("%w: Conn, Next, Cluster and Node are required", errOptions)
	case o.Margin >= o.Lease || o.Cutoff >= o.Grace:
		return fmt.Errorf("%w: the margin %s must be shorter than the lease %s, and the cutoff %s than the grace %s", errOptions, o.Margin, o.Lease, o.Cutoff, o.Grace)
	case o.StreamBytesMin > o.StreamBytesMax/2:
		return fmt.Errorf("%w: a stream of at most %d bytes cannot keep %d; want at most half", errOptions, o.StreamBytesMax, o.StreamBytesMin)
	}
	return nil
}
