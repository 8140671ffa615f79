package scheduler

import (
	"context"
	"time"

	"github.com/carillon-io/carillon/job"
)

// Log is the write-ahead log. The engine is its only writer.
type Log interface {
	// Append makes one commit durable, or fails for good: after an error no later Append succeeds.
	// It may keep nothing of batch.
	Append(epoch uint64, batch []byte) (job.Position, error)
}

// Store is the ordered table of rows that the log is applied to. Its methods are safe for concurrent
// use, save that Apply has one caller.
type Store interface {
	// Apply makes one commit visible to readers. It need not be durable: the log is.
	Apply(at job.Position, batch []byte) error
	// Applied returns the newest position applied.
	Applied() job.Position
	// Get returns a copy of the value under a key.
	Get(key []byte) (value []byte, ok bool, err error)
	// Scan calls fn for the rows in [low, high) in the order of keys until fn returns false. The
	// slices are fn's only until it returns. A nil high is the end of the store.
	Scan(low, high []byte, fn func(key, value []byte) (more bool, err error)) error
}

// Sender brings runs to their targets, as many at a time as these have places. None of its methods blocks.
type Sender interface {
	// Reserve takes a place for an attempt of a lane, whose payload has so many bytes, and tells whether there
	// was one: the caller owes a Launch or a Release. If not, room is called once, later, from any goroutine,
	// maybe inside of a Release, with a place that is taken; room says whether the caller has it now, else it
	// is given back. It does not block. Until that call, Reserve of the lane finds no place.
	Reserve(lane job.Lane, payloadBytes int, room func() bool) bool
	// Release gives a place back that no Launch has used.
	Release(lane job.Lane, payloadBytes int)
	// Launch takes an attempt for which the caller has a place of its lane and payload, and gives the place
	// back when the attempt is over. It calls done exactly once, later, from any goroutine.
	Launch(d *job.Delivery, done func(job.Outcome))
	// Cancel gives up the attempt of a run that it has, if it has one. The attempt's done is called as ever.
	Cancel(run job.RunID)
}

// Boundless is the half of a [Sender] whose targets have any number of places.
type Boundless struct{}

// Reserve always finds a place.
func (Boundless) Reserve(job.Lane, int, func() bool) bool { return true }

// Release does nothing.
func (Boundless) Release(job.Lane, int) {}

// Announcer tells the world outside of changes: the outbox is its work.
type Announcer interface {
	// Announce publishes in order, and returns how many, from the first on, the world has for sure. An
	// error is why it did not go on; it will be asked again. It may publish twice.
	Announce(ctx context.Context, batch []job.Announcement) (n int, err error)
}

// Clock reads the two clocks of DESIGN. It is safe for concurrent use.
type Clock interface {
	// Now returns the wall time, with Go's monotonic reading for intervals.
	Now() time.Time
}

// SystemClock is the clock of the machine.
type SystemClock struct{}

// Now implements [Clock].
func (SystemClock) Now() time.Time { return time.Now() }
