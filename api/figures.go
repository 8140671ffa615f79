package api

import (
	"time"

	"github.com/carillon-io/carillon/histogram"
)

// Storage are the figures of a data directory. Counters count since it was opened.
type Storage struct {
	Syncs    histogram.Reading // seconds of the log's appends, synced
	Appends  histogram.Reading // bytes of them
	Segments int               // of the log
	LogBytes int64

	Checkpoints        histogram.Reading // seconds of those that succeeded
	CheckpointBytes    uint64            // written for them
	CheckpointFailures uint64
	CheckpointAt       time.Time // the last that succeeded, or when the directory was opened

	Store Store

	FreeBytes, SizeBytes uint64 // of the file system; 0: unknown
}

// Store are the figures of the store of rows.
type Store struct {
	Bytes, MemTableBytes         uint64 // on the disk, and not yet there
	CacheBytes                   int64
	CacheHits, CacheMisses       int64
	L0Sublevels                  int
	CompactionDebtBytes          uint64
	Flushes, Compactions         int64
	FlushedBytes, CompactedBytes uint64
	Stalls                       uint64 // times that writers had to wait
	StallTime                    time.Duration
}

// Deliveries are the figures of the ways to the targets, since the start of the process.
type Deliveries struct {
	Kinds []DeliveryKind

	// The connection for targets of NATS.
	Connected  bool
	Reconnects uint64
	Denied     uint64 // messages that the server refused for lack of permission
	Duplicates uint64 // runs that streams took as duplicates

	EventDuplicates uint64 // events that their stream took as duplicates

	SpansLost uint64 // of traces, that were dropped
}

// DeliveryKind are the figures of one kind of target.
type DeliveryKind struct {
	Kind   string
	Ended  map[string]uint64 // attempts by outcome
	Took   histogram.Reading // seconds from launch to answer
	Queued int               // attempts that wait for the connection to NATS
}

// EmbeddedNATS are the figures of a NATS server in this process.
type EmbeddedNATS struct {
	Clients, Routes int
	IsCurrent       bool // JetStream serves, and this server is not behind
	IsLeader        bool // of what JetStream keeps of streams
}
