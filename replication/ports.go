package replication

import (
	"context"
	"errors"

	"github.com/carillon-io/carillon/job"
)

// stream is what the log is carried by: messages in an order that all readers agree on, if not forever.
// It may lose the end of what it acknowledged, and its check of the expected sequence may let two
// through.
type stream interface {
	// Publish adds a message if the last one has the sequence expect, and returns its sequence. Its
	// errors are errWrongSequence, errStreamGone, or others, after which nobody knows whether it was added
	// or will be.
	Publish(ctx context.Context, message []byte, expect uint64) (uint64, error)
	// Bounds returns the sequences of the first and the last message. Of an empty stream the first is
	// the last plus one.
	Bounds(ctx context.Context) (first, last uint64, err error)
	// Get returns a message. Its errors are errNoMessage, errStreamGone or others.
	Get(ctx context.Context, seq uint64) ([]byte, error)
	// Lacks tells whether whoever leads the stream has no such message. Get may say that of one that has
	// not come to the server that answers yet.
	Lacks(ctx context.Context, seq uint64) (bool, error)
	// Pause waits a little before something is tried again.
	Pause(ctx context.Context) error
}

var (
	errWrongSequence = errors.New("replication: the stream is not where it was expected")
	errNoMessage     = errors.New("replication: the stream has no such message")
	errLagging       = errors.New("replication: the servers do not have a message yet that the stream has")
	errStreamGone    = errors.New("replication: the stream is gone")
)

// register is where the lease is kept.
type register interface {
	// swap puts a value in the place of a revision; 0 is none. It returns the new revision, or errLost, or
	// an error after which nobody knows.
	swap(ctx context.Context, v leaseValue, revision uint64) (uint64, error)
	// look returns what the lease was not long ago; revision 0 is none. It may be stale.
	look(ctx context.Context) (v leaseValue, revision uint64, err error)
	// watch passes on each state of the lease, or why it cannot be read, until ctx ends.
	watch(ctx context.Context, pass func(leaseSeen, error)) error
}

// Local is what a node keeps: its log, its store and its engine. One goroutine at a time calls it, save
// Last, Find, Applied, Durable and Read, which are safe for concurrent use. An error of it ends the node.
type Local interface {
	// Last returns the position of the newest commit in the log.
	Last() job.Position
	// Find returns the position of a commit that the log keeps, or of the place where it begins.
	Find(lsn uint64) (at job.Position, ok bool)
	// Read returns a commit of the log; ok is false if the log does not keep it.
	Read(lsn uint64) (at job.Position, prev [16]byte, payload []byte, ok bool, err error)
	// Applied returns the position of the store, Durable what of it survives a crash.
	Applied() job.Position
	Durable() job.Position

	// Append makes the next commit durable in the log.
	Append(epoch uint64, payload []byte) (job.Position, error)
	// Apply makes the commit visible that follows the applied one.
	Apply(at job.Position, payload []byte) error
	// Idle lets the engine keep up with the time while there is nothing to apply.
	Idle()
	// Cut drops the commits of the log after one, of which none is applied, and keeps them for the
	// operator.
	Cut(keep job.Position) error
	// Save keeps the commits of the log after one for the operator, and drops none.
	Save(after job.Position) error

	// Begin begins a new epoch: it commits through [Node.Append]. After an error nothing has changed.
	Begin() error
	// Serve leads until ctx ends, nil then, or until a commit fails. It calls ready when requests are
	// answered.
	Serve(ctx context.Context, ready func()) error
	// Follow makes it follow again after Serve has returned.
	Follow() error
	// Hold ends launching, and waits until ctx ends for what has left to be recorded.
	Hold(ctx context.Context)

	// Export writes a copy of the store into a new directory of that name, which is the caller's to
	// remove, and returns its position.
	Export(ctx context.Context, name string) (dir string, at job.Position, err error)
	// Incoming is the directory to receive a copy in; it outlives the process.
	Incoming() string
	// Adopt puts the copy in Incoming in the place of log and store, and follows from there.
	Adopt(at job.Position) error
}
