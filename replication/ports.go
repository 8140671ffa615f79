package replication

import (
	"context"
	"errors"

	"github.com/carillon-io/carillon/job"
)

// stream carries the log: messages in an order on which all readers agree, unless messages are lost. It can
// lose messages at its end that it has acknowledged, and its check of the expected sequence can let two
// publications through.
type stream interface {
	// Publish adds a message if the sequence of the last one is expect, and returns the sequence of the new
	// one. It returns errWrongSequence, errStreamGone or another error; after another error the message may
	// have been added, or may still be added later.
	Publish(ctx context.Context, message []byte, expect uint64) (uint64, error)
	// Bounds returns the sequences of the first and the last message. Of an empty stream the first is
	// the last plus one.
	Bounds(ctx context.Context) (first, last uint64, err error)
	// Get returns a message. It returns errNoMessage, errStreamGone or another error.
	Get(ctx context.Context, seq uint64) ([]byte, error)
	// GetRange returns the messages of all sequences from first to last, of which there are at most rangeMost, in about
	// the time of one. A message that Get would not return for [errNoMessage] is nil. It returns the other errors of Get.
	GetRange(ctx context.Context, first, last uint64) ([][]byte, error)
	// Lacks reports whether the server that leads the stream has no such message. Get can return errNoMessage
	// for a message that merely has not reached the server that answered.
	Lacks(ctx context.Context, seq uint64) (bool, error)
	// Stored returns a message as the server that leads the stream has it. It returns the same errors as Get.
	Stored(ctx context.Context, seq uint64) ([]byte, error)
	// StoredRange returns the messages of all sequences from first to last as the server that leads the stream has them, in
	// about the time of one. There are at most rangeMost. A message that it does not have is nil.
	StoredRange(ctx context.Context, first, last uint64) ([][]byte, error)
	// Pause waits a short time before the caller tries again.
	Pause(ctx context.Context) error
}

// rangeMost bounds what one call of GetRange asks for: a message has up to some hundred kilobytes, and all shards of a node
// may read at the same time.
const rangeMost = 8

var (
	errWrongSequence = errors.New("replication: the stream is not where it was expected")
	errNoMessage     = errors.New("replication: the stream has no such message")
	errLagging       = errors.New("replication: the servers do not have a message yet that the stream has")
	errStreamGone    = errors.New("replication: the stream is gone")
)

// register stores the lease of a shard.
type register interface {
	// claim takes the lease if its newest state, as watch and read show it, is the known one with that revision; revision 0
	// means that there is none. It adds to the value what the register knows, and returns the revision for the next swap, or errLost
	// if the revision has changed. After any other error the value may or may not be stored.
	claim(ctx context.Context, v *leaseValue, known leaseValue, revision uint64) (uint64, error)
	// swap replaces the lease of this node if the revision is still that of the last swap or claim. It returns what claim
	// does.
	swap(ctx context.Context, v leaseValue, revision uint64) (uint64, error)
	// read returns a recent state of the lease; revision 0 means that there is none. The state may be stale.
	read(ctx context.Context) (v leaseValue, revision uint64, err error)
	// held returns the lease with the revision that the holder's next swap needs; revision 0 means that there is none. A state
	// before the least revision is not stale: the bucket was made anew, or has gone back.
	held(ctx context.Context, least uint64) (v leaseValue, revision uint64, err error)
	// watch calls pass with each state of the lease, or with the reason that it cannot be read, until ctx ends.
	watch(ctx context.Context, pass func(leaseSeen, error)) error
}

// keys are the keys of a bucket. The revisions of all of them grow together.
type keys interface {
	// put writes a value if the newest revision of the key is the given one; revision 0 means that there is none. It
	// returns what [register.claim] does.
	put(ctx context.Context, key string, value []byte, revision uint64) (uint64, error)
	// get returns a recent state of a key, which may be stale; revision 0 means that there is none.
	get(ctx context.Context, key string) (value []byte, revision uint64, err error)
	// list returns the present states of the keys that match. They are not stale.
	list(ctx context.Context, match string) ([]keyState, error)
	// watch calls pass with each state of the keys that match, until ctx ends.
	watch(ctx context.Context, match string, pass func(keyState)) error
}

// keyState is a state of a key; revision 0 means that there is none.
type keyState struct {
	key      string
	value    []byte
	revision uint64
}

// Local is the part of a node that replication does not own: its log, its store and its engine. Only one
// goroutine at a time calls its methods, except Last, Find, Applied, Durable, Read and Keep, which are safe for
// concurrent use. An error of a method ends the node, unless the method says otherwise.
type Local interface {
	// Last returns the position of the newest commit in the log.
	Last() job.Position
	// Find returns the position of a commit that the log keeps, of its base, the commit before the first one, or of a known
	// ancestor of the base, see Adopt.
	Find(lsn uint64) (at job.Position, ok bool)
	// Base returns the position before the first commit that the log keeps.
	Base() job.Position
	// Read returns a commit of the log; ok is false if the log does not keep it.
	Read(lsn uint64) (at job.Position, prev [16]byte, payload []byte, ok bool, err error)
	// Applied returns the position of the store. Durable returns the position up to which the store survives a
	// crash.
	Applied() job.Position
	Durable() job.Position

	// Append makes the next commit durable in the log and returns its position.
	Append(epoch uint64, payload []byte) (job.Position, error)
	// Apply applies the commit that follows the applied one to the store, so that readers see it.
	Apply(at job.Position, payload []byte) error
	// Idle advances the wheel of a standby's engine while no commits arrive. It is called about once a second.
	Idle()
	// Cut drops the commits of the log after keep, none of which is applied, and puts a copy of them aside for
	// the operator.
	Cut(keep job.Position) error
	// Save puts a copy of the commits that the log keeps after one aside for the operator, and drops none.
	Save(after job.Position) error

	// Begin begins a new epoch by a commit through [Node.Append]. After an error nothing has changed, and the
	// node goes on.
	Begin() error
	// Serve leads until ctx ends, and then returns nil, or until a commit fails. It calls ready when it begins
	// to answer requests.
	Serve(ctx context.Context, ready func()) error
	// Follow makes the engine a standby's again after Serve has returned.
	Follow() error

	// Confirm makes a commit that changes nothing, and returns when it counts. Launches and requests go on
	// meanwhile. Its error does not end the node.
	Confirm(ctx context.Context) error
	// Hold stops launches, and waits until the outcomes of those in flight are recorded, or until ctx ends.
	Hold(ctx context.Context)
	// Rest stops answering requests, and waits until all known outcomes are recorded and no commit is under
	// way; no other commit begins after that. It returns an error if ctx ends first or if the engine has
	// stopped; the error does not end the node.
	Rest(ctx context.Context) error
	// Continue undoes Hold and Rest: launches and requests go on.
	Continue() error

	// Known returns what the node had kept about its cluster when it started. Keep replaces it durably, and may
	// be called at the same time as any other method.
	Known() Known
	Keep(Known) error

	// Export writes a copy of the store into a new directory of that name, and returns the copy's position. The
	// caller removes the directory.
	Export(ctx context.Context, name string) (dir string, at job.Position, err error)
	// Incoming returns the directory in which a copy is received. It outlives the process, so that an
	// interrupted transfer continues.
	Incoming() string
	// MayReplace returns an error if the node cannot replace its data because it keeps too much replaced data
	// already.
	MayReplace(old Old) error
	// Adopt replaces log and store by the copy in Incoming, and makes the engine a standby's from that
	// position. Old says whether the cluster has the replaced data: data that it does not have is put aside.
	// From then on Find finds the ancestors, too: those that the node which sent the copy has for its position.
	Adopt(at job.Position, ancestors []job.Position, old Old) error
	// Ancestors returns the positions of the commits before one that the log keeps or its base is: the newest ones, at most so
	// many, in their order and without a gap. It may be called at the same time as any other method.
	Ancestors(lsn uint64, most int) []job.Position
}
