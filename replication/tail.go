package replication

import (
	"errors"
	"sync/atomic"

	"github.com/carillon-io/carillon/job"
)

// Next returns the position of the commit that a payload makes after another commit in an epoch: see wal.Next.
// It is a pure function, so that every node computes the same position.
type Next func(prev job.Position, epoch uint64, payload []byte) job.Position

// verdict is the judgement of a reader about a message.
type verdict uint8

const (
	void     verdict = iota // not part of the log
	accepted                // the next commit
	// suspect is a frame that is void for this reader, but that a leader would have written whose log took
	// another way than this reader believes. Unless the frame is part of its own log, the reader must locate
	// its place again.
	suspect
)

// Voids counts the messages of the stream that are not part of the log, by kind. Messages of deposed leaders
// and repeated ones are part of normal operation; alien and foreign ones show that another program, or another
// cluster, publishes there.
type Voids struct {
	Alien     uint64 // not a frame, or a damaged one
	Foreign   uint64 // a frame of another cluster
	Deposed   uint64 // a frame of a deposed leader
	Repeated  uint64 // a frame that is part of the log already; harmless
	Unchained uint64 // a frame that does not continue the log
}

// voidCounts are Voids that one goroutine counts and others may read at the same time.
type voidCounts struct{ alien, foreign, deposed, repeated, unchained atomic.Uint64 }

func (v *voidCounts) read() Voids {
	return Voids{v.alien.Load(), v.foreign.Load(), v.deposed.Load(), v.repeated.Load(), v.unchained.Load()}
}

// tail is a reader's place in the log: the last commit that it accepted.
//
// Invariant: whether a message is accepted depends only on this place and on the message, so all readers at one
// place continue to the same next place.
type tail struct {
	cluster ClusterID
	next    Next
	at      job.Position
	voids   voidCounts
}

// judge decides about a message. An accepted frame becomes the new place. The error is ErrFrameVersion: a frame
// of a newer release may be part of the log, so a reader that cannot decode it must not go on.
func (t *tail) judge(message []byte) (f Frame, v verdict, err error) {
	f, err = decodeFrame(message)
	switch {
	case errors.Is(err, ErrFrameVersion):
		return f, void, err
	case err != nil:
		t.voids.alien.Add(1)
	case f.Cluster != t.cluster:
		t.voids.foreign.Add(1)
	case f.At == t.at:
		t.voids.repeated.Add(1)
	case t.continues(&f):
		t.at = f.At
		return f, accepted, nil
	default:
		t.countVoid(&f)
		return f, suspect, nil
	}
	return f, void, nil
}

// continues reports whether a frame is the next commit. The position is computed from the payload again, so a
// frame cannot have a hash that its payload does not have.
func (t *tail) continues(f *Frame) bool {
	return f.At.LSN == t.at.LSN+1 && f.Prev == t.at.Hash && f.At.Epoch >= t.at.Epoch &&
		t.next(t.at, f.At.Epoch, f.Payload) == f.At
}

// countVoid counts a frame that does not continue the log.
func (t *tail) countVoid(f *Frame) {
	switch {
	case f.At.Epoch < t.at.Epoch:
		t.voids.deposed.Add(1)
	case f.At.Epoch > t.at.Epoch || f.At.LSN > t.at.LSN:
		t.voids.unchained.Add(1)
	default: // of this epoch, and not after this place
		t.voids.repeated.Add(1)
	}
}
