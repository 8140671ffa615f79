package replication

import (
	"errors"
	"sync/atomic"

	"github.com/carillon-io/carillon/job"
)

// Next names the commit that a payload makes after another in an epoch: see wal.Next. It is pure.
type Next func(prev job.Position, epoch uint64, payload []byte) job.Position

// verdict is what a reader says of a message.
type verdict uint8

const (
	void     verdict = iota // no part of the log
	accepted                // the next commit
	// suspect is a frame that is void as far as this reader can tell, and that a leader would have written
	// whose log went another way than what this reader believes. Unless it is part of the reader's own
	// log, that has to look again.
	suspect
)

// Voids counts the messages of the stream that are no part of the log, by what they are.
type Voids struct {
	Alien     uint64 // no frame, or a damaged one
	Foreign   uint64 // a frame of another cluster
	Deposed   uint64 // a frame of a leader that was one no more
	Repeated  uint64 // a frame that is part of the log already; it means nothing
	Unchained uint64 // a frame that does not continue the log
}

// voidCounts are Voids that one goroutine counts and others read.
type voidCounts struct{ alien, foreign, deposed, repeated, unchained atomic.Uint64 }

func (v *voidCounts) read() Voids {
	return Voids{v.alien.Load(), v.foreign.Load(), v.deposed.Load(), v.repeated.Load(), v.unchained.Load()}
}

// tail is a reader's place in the log: the last commit it accepted, as the stream has them in order.
//
// Whether a message is accepted depends on nothing but this place and the message, so that all who are
// at one place go on to the same.
type tail struct {
	cluster ClusterID
	next    Next
	at      job.Position
	voids   voidCounts
}

// judge decides on a message. An accepted frame is the new place. The error is ErrFrameVersion: what a
// newer release wrote may be part of the log, so that nobody may go on who cannot read it.
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
		t.doubt(&f)
		return f, suspect, nil
	}
	return f, void, nil
}

// continues tells whether a frame is the next commit.
func (t *tail) continues(f *Frame) bool {
	return f.At.LSN == t.at.LSN+1 && f.Prev == t.at.Hash && f.At.Epoch >= t.at.Epoch &&
		t.next(t.at, f.At.Epoch, f.Payload) == f.At
}

// doubt counts a frame that does not continue the log.
func (t *tail) doubt(f *Frame) {
	switch {
	case f.At.Epoch < t.at.Epoch:
		t.voids.deposed.Add(1)
	case f.At.Epoch > t.at.Epoch || f.At.LSN > t.at.LSN:
		t.voids.unchained.Add(1)
	default: // of this epoch, and not after this place
		t.voids.repeated.Add(1)
	}
}
