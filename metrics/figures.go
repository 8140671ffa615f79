package metrics

import (
	"time"

	"github.com/carillon-io/carillon/histogram"
)

// Storage holds the readings of a data directory. Counters run since it was opened. It is filled anew for each
// scrape, and owned by it.
type Storage struct {
	Syncs    histogram.Reading // seconds of the log's synced appends
	Appends  histogram.Reading // bytes of the appends
	Segments int               // of the log
	// LogBytes is the size of all segments. Checkpoints keep it bounded.
	LogBytes int64

	Checkpoints     histogram.Reading // seconds, successful ones only
	CheckpointBytes uint64            // bytes written for them
	// A failed checkpoint loses nothing: the log is kept until one succeeds.
	CheckpointFailures uint64
	CheckpointAt       time.Time // time of the last successful one, or when the directory was opened

	Store Store

	// When only a reserve of free space is left, the log takes no further commit and the server ends, so an alert
	// has to come before that.
	FreeBytes, SizeBytes uint64 // of the file system; 0: unknown
}

// Store holds the readings of the store of rows.
type Store struct {
	Bytes, MemTableBytes uint64 // on disk, and not yet on disk
	// CacheBytes is what cached blocks take at the moment.
	CacheBytes             int64
	CacheHits, CacheMisses int64
	// L0Sublevels, CompactionDebtBytes and Stalls show in this order how a store falls behind: reads become slower,
	// then commits wait.
	L0Sublevels                  int
	CompactionDebtBytes          uint64
	Flushes, Compactions         int64
	FlushedBytes, CompactedBytes uint64
	Stalls                       uint64 // number of times that writers had to wait
	// StallTime is how long commits waited in all.
	StallTime time.Duration
}

// Deliveries holds the readings of the ways of delivery, since the start of the process. It is filled anew for each
// scrape, and owned by it.
type Deliveries struct {
	// Kinds has an entry for each kind of target that this process can deliver to.
	Kinds []DeliveryKind

	// The connection for NATS targets.
	Connected bool
	// TenantConnections is the number of those in the accounts of tenants.
	TenantConnections int
	// Reconnects counts the restored connections, so it is 0 while the first one lasts.
	Reconnects uint64
	Denied     uint64 // messages that the server refused for lack of permission
	Duplicates uint64 // runs that streams refused as duplicates

	EventDuplicates uint64 // events that their stream refused as duplicates

	SpansLost uint64 // dropped spans of traces
}

// DeliveryKind holds the readings of one kind of target. A kind without an attempt since the start has empty
// readings.
type DeliveryKind struct {
	Kind   string
	Ended  map[string]uint64 // attempts by outcome
	Took   histogram.Reading // seconds from launch to answer
	Queued int               // attempts that wait for the connection to NATS
}

// EmbeddedNATS holds the readings of the NATS server in this process. A node that connects to a NATS server outside
// has none.
type EmbeddedNATS struct {
	Clients, Routes int
	IsCurrent       bool // JetStream serves, and this server does not lag
	IsLeader        bool // this server leads the metadata of JetStream
}

// Certificate holds the readings of a listener with TLS.
type Certificate struct {
	Listener          string    // http, listen or cluster, as in the flags
	Ends              time.Time // when its certificate ends
	CAEnds            time.Time // when the last of its authorities ends; zero: it has none
	Reloads, Failures uint64    // changed files that came into use, and that could not
	IsBad             bool      // the files that are there are not in use
}
