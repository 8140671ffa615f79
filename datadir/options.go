package datadir

import (
	"log/slog"
	"time"
)

// Options say whose data directory is opened. The caller has checked the names.
type Options struct {
	Dir         string // the data directory; made if it does not exist
	ClusterName string // name of the cluster whose node opens it; empty: a node alone
	Node        string // name of the node in the cluster; empty: the one that the directory has, or a name that is drawn
	Witness     bool   // the node is a witness, which has no data
	DiscardData bool   // data that belongs to another cluster may be discarded for this one's

	// TablesMax is how many files of the stores of all shards together stay open for reading; 0 means
	// [TablesDefault].
	TablesMax int

	Logger *slog.Logger

	inside      bool // the directory is inside another one, which the caller has locked
	anyIdentity bool // the data is opened for [Found], whichever node it belongs to
}

// clustered reports whether a node of a cluster opens the directory, rather than a node alone.
func (o Options) clustered() bool { return o.ClusterName != "" }

// ShardOptions say how a shard's log and store are opened. The zero value is that of a node alone. There is no default
// here but those of package wal and of [Parts].
type ShardOptions struct {
	// 0 keeps none, which is right without standbys.
	KeepBehind   uint64        // commits that the log keeps although a checkpoint has them, for nodes that lag
	SegmentBytes int           // size of a segment of the log; 0: the default of package wal
	MarkEvery    time.Duration // how often the log marks what is durable; 0: the default

	// How many shards the process has; they share the memory for rows that are not in files yet. 0 means one.
	Shards int

	// The store calls it at most once, on a goroutine of its own; the process must end then.
	OnFatal   func(error)            // called when the store can no longer be written; nil: no call
	Replaying func(done, all uint64) // called with the progress of the replay of the log; nil: no call
}
