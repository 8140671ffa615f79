package shard

import (
	"context"
	"log/slog"
	"time"

	"github.com/nats-io/nats.go"

	"github.com/carillon-io/carillon/api"
	"github.com/carillon-io/carillon/datadir"
	"github.com/carillon-io/carillon/replication"
	"github.com/carillon-io/carillon/scheduler"
)

// Options configure a [Shard]. Data, Engine.Sender and OnFatal are required.
type Options struct {
	// Number is the number of the shard, from 0. It is in the subjects on which nodes talk about it, in the name of
	// the stream with its log, in its status and in its backups, so two shards of one prefix must differ in it.
	Number uint32

	// Data are the log and the store, open. The caller closes them after [Shard.Close]: outcomes are recorded until then.
	Data *datadir.Shard
	// CheckpointEvery is the time between two checkpoints of the store, at least one second. A longer one makes a
	// start after a crash replay more.
	CheckpointEvery time.Duration

	// Engine are the options of the engine. The shard sets Shard, Log, Store, Announcer, Trust and RowsMax.
	Engine scheduler.Options

	// Conn carries the requests over NATS, with API as the options of the service that answers them; the shard sets
	// Shard, Leads and Standby. nil: no requests come over NATS, and the shard has no service.
	Conn *nats.Conn
	API  api.Options

	// OpenAnnouncer opens the publisher of events and dead letters. It is called once, before the engine is opened.
	// The origin is the same at each start of one directory and on every node of one cluster, so that what is
	// published twice about one change has the same id. nil: nothing is published.
	OpenAnnouncer func(ctx context.Context, origin string) (scheduler.Announcer, error)

	// BeforeLead is called whenever the shard is about to launch as the leader; nil: no calls.
	BeforeLead func()

	// OnLead is called whenever the shard begins to lead; the function that it returns is called when that ends. nil:
	// no calls.
	OnLead func() (end func())

	// OnFatal receives the failure of a part, after which the shard launches and accepts nothing; the caller closes
	// it. It may be called from any goroutine.
	OnFatal func(error)

	Logger *slog.Logger // default slog.Default()

	// Cluster makes the shard a member of a cluster. nil: it is alone.
	Cluster *Cluster
}

// Cluster is what a shard in a cluster needs besides.
type Cluster struct {
	// Replication are the options of the node. The shard sets Shard, Next, Boot, Audit, Load, and what its data says: History, ID,
	// Own, Found and GiveUp.
	//
	// Discard lets the cluster's data replace data that is not part of it.
	Replication replication.Options

	// OnFound is called when the node has found or founded its cluster, before it reads or writes anything of it. An
	// error ends the start. nil: no call.
	OnFound func(ctx context.Context) error
	// OnJoin is called with the node before it begins to follow. nil: no call.
	OnJoin func(ctx context.Context, node *replication.Node)
}
