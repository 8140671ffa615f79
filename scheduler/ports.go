package scheduler

import (
	"context"
	"time"

	"github.com/carillon-io/carillon/job"
	"github.com/carillon-io/carillon/scheduler/pad"
)

// Log is the write-ahead log. The engine is its only writer. It decides alone whether this engine still leads: it
// refuses to append for an epoch that another one has replaced.
type Log interface {
	// Append makes one commit durable and returns its position. An error is final: no later Append succeeds. The log
	// must not keep batch. What durable means, on one disk or on several nodes, is the log's own option; it may take
	// as long as that needs.
	Append(epoch uint64, batch []byte) (job.Position, error)
}

// Store is the ordered table of rows to which the log is applied. Its methods are safe for concurrent use, except that
// only one goroutine may call Apply. Commits are applied in the order of the log, without gaps.
type Store interface {
	// Apply makes one commit visible to readers. The rows need not be durable, because the log is. It happens after
	// the append, so a crash in between leaves a store that is behind its log. The owner of both applies the rest
	// before it opens an engine.
	Apply(at job.Position, batch []byte) error
	// Applied returns the position of the newest commit that is applied.
	Applied() job.Position
	// Get returns a copy of the value of a key; ok is false if there is none.
	Get(key []byte) (value []byte, ok bool, err error)
	// Scan calls fn for the rows in [low, high), in the order of keys, until fn returns false or an error. The slices
	// are valid only until fn returns. A nil high means the end of the store.
	Scan(low, high []byte, fn func(key, value []byte) (more bool, err error)) error
}

// Sender delivers runs to their targets, as many at a time as these have places. None of its methods may block. They
// are called from several goroutines.
type Sender interface {
	pad.Sender
	// Cancel aborts the attempt of a run, if the sender has one. The attempt's done is called as always. It may
	// come too late: the attempt may have ended.
	Cancel(run job.RunID)
}

// Boundless is half of a [Sender]: embed it in one whose targets have any number of places. It serves tests, and
// targets without a limit.
type Boundless struct{}

// Reserve always finds a place.
func (Boundless) Reserve(job.Lane, int, func() bool) bool { return true }

// Release does nothing.
func (Boundless) Release(job.Lane, int) {}

// Announcer publishes changes of runs to the outside. The outbox calls it.
type Announcer interface {
	// Announce publishes notices in order. It returns the length of the prefix that is confirmed, and an error if it
	// stopped before the end; the engine calls it again with the rest. It may publish a notice twice. It is called
	// from one goroutine at a time.
	Announce(ctx context.Context, batch []job.Announcement) (n int, err error)
}

// Clock reads the wall clock and, in the same value, the monotonic clock. It is safe for concurrent use. It is an
// option so that simulations can set the time. Waits of the runner itself use timers of the process.
type Clock interface {
	// Now returns the wall time, with Go's monotonic reading for intervals.
	Now() time.Time
}

// SystemClock is the clock of the machine.
type SystemClock struct{}

// Now implements [Clock].
func (SystemClock) Now() time.Time { return time.Now() }
