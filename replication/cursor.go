package replication

import (
	"context"
	"errors"
	"fmt"

	"github.com/carillon-io/carillon/job"
)

// History is a node's own log, for finding positions in it.
type History interface {
	// Find returns the position of a commit that the log keeps, of its base, the commit before the first
	// one, or of an ancestor of the base that the node knows, see [Local].Adopt.
	Find(lsn uint64) (at job.Position, ok bool)
	// Last returns the position of the newest commit.
	Last() job.Position
}

// cursor is a place both in the stream and in the log.
//
// Invariant: every message up to seq is judged, and at is the last commit that those messages show. It is for
// one goroutine.
type cursor struct {
	tail
	stream stream
	own    History
	// applied returns the newest applied commit of the node, which is part of the log; nil: the node may have
	// applied commits that are not.
	applied func() job.Position
	placing job.Position // position of the frame that a leader publishes now, after the frames that the stream has lost
	seq     uint64       // newest message that is judged; 0: none
	imprint imprint      // imprint of the message at seq
	trail   trail        // messages before it that are not proven
	doubt   doubt        // what of the node's own commits may be no part of the log
	// kept reports whether NATS is known to keep what it has acknowledged; nil: that is not known.
	kept     func() bool
	examined uint64 // suspects up to this sequence have been examined; without it, a suspect that leaves the place as it is would be examined for ever
	// settled is what was known when a suspect had been examined and was void all the same. While it holds, and
	// the stream still ends as it was judged, a further suspect is void too.
	settled knowledge
	// emptied says that the stream once held messages and now holds none from which this node could continue.
	// So nothing shows whether the node lacks a part of the log.
	emptied bool

	// ahead is a frame that is void here although its leader was not deposed: it is further in the log than at,
	// and it continues nothing in this node's own log. Zero: none. While there is one, the stream lacks a part
	// of the log.
	ahead job.Position
}

// errBehind says that the stream begins after the end of this node's log.
var errBehind = errors.New("replication: the stream does not have what follows this node's log any more")

// has reports whether a position is part of the node's log.
func (c *cursor) has(at job.Position) bool {
	found, ok := c.own.Find(at.LSN)
	return ok && found == at
}

// hasBefore reports whether the node's log has the commit that a frame continues. It compares the hash, which
// proves all commits up to there.
func (c *cursor) hasBefore(f *Frame) bool {
	before, ok := c.own.Find(f.At.LSN - 1)
	return ok && f.At.LSN > 0 && before.Hash == f.Prev
}

// readFrame returns the frame of a message; nil if there is no such message, or it belongs to another cluster.
func (c *cursor) readFrame(ctx context.Context, seq uint64) (*Frame, error) {
	return c.framed(c.get(ctx, seq))
}

// framed returns the frame of a message that get has returned, as readFrame does.
func (c *cursor) framed(message []byte, err error) (*Frame, error) {
	if errors.Is(err, errNoMessage) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	f, err := decodeFrame(message)
	switch {
	case errors.Is(err, ErrFrameVersion):
		return nil, err
	case err != nil || f.Cluster != c.cluster:
		return nil, nil
	}
	return &f, nil
}

// lagTries bounds how often the cursor requests a message that the stream has but the answering server does
// not. With the pauses between them, a server has at least five seconds to receive what it lacks.
const lagTries = 100

// get returns a message, or errNoMessage if the stream does not have it. A message that merely has not reached
// some server must not count as missing, because then a part of the log would be skipped.
func (c *cursor) get(ctx context.Context, seq uint64) ([]byte, error) {
	for range lagTries {
		message, err := c.stream.Get(ctx, seq)
		if !errors.Is(err, errNoMessage) {
			return message, err
		}
		lacks, err := c.stream.Lacks(ctx, seq)
		switch {
		case err != nil:
			return nil, err
		case lacks:
			return nil, errNoMessage
		}
		if err := c.stream.Pause(ctx); err != nil {
			return nil, err
		}
	}
	return nil, errLagging
}

// step judges the message that follows the cursor's place. Messages must come in order; one that was already
// judged is void. step examines a suspect at once; that may change the place, and then the caller reads on from
// the new one.
//
// Besides the place and the message, two facts about this node decide. What it has applied was part of the log:
// so a frame that differs from that is void (isLate), and one that continues it is the next commit although the
// stream has lost the frame before (isNext). And a frame that its own log has needs no examination.
func (c *cursor) step(ctx context.Context, seq uint64, message []byte) (Frame, verdict, error) {
	if seq <= c.seq {
		return Frame{}, void, nil
	}
	before := c.at
	f, v, err := c.judge(message)
	if err != nil {
		return f, v, err
	}
	if v == accepted && c.isLate(&f) {
		c.at, v = before, void
		c.voids.deposed.Add(1)
	}
	if v == suspect && c.isNext(&f) {
		c.at, v = f.At, accepted
	}
	known, err := c.isSettled(ctx, seq, v)
	if err != nil {
		c.at = before
		return f, v, err
	}
	if v == suspect && (seq <= c.examined || known || c.has(f.At)) {
		if v = void; seq <= c.examined {
			c.settled = c.knows()
		}
		if f.At.LSN > c.at.LSN && f.At.Epoch >= c.at.Epoch && !c.hasBefore(&f) {
			c.ahead = f.At
		}
	}
	if v == accepted && f.At.LSN >= c.ahead.LSN {
		c.ahead = job.Position{}
	}
	if v != suspect {
		c.follows(seq, imprintOf(message))
		c.emptied = c.emptied && v != accepted
		return f, v, nil
	}
	c.examined = seq
	return f, suspect, c.locate(ctx)
}

// knowledge is what decides about a suspect besides the stream: the cursor's place and the node's own log.
type knowledge struct{ at, own, applied job.Position }

func (c *cursor) knows() knowledge {
	k := knowledge{at: c.at, own: c.own.Last()}
	if c.applied != nil {
		k.applied = c.memory()
	}
	return k
}

// isSettled reports whether an examination of a suspect would find what the last one found: nothing that this node
// knows has changed, and the message before the suspect is still the one that was judged, so the stream has lost
// nothing. It costs one read. Without it, a node whose data went another way than the cluster's would locate its
// place, and read everything since, again for each message: it would never reach the end of a stream that grows.
func (c *cursor) isSettled(ctx context.Context, seq uint64, v verdict) (bool, error) {
	if v != suspect || seq <= c.examined || seq != c.seq+1 || c.settled != c.knows() {
		return false, nil
	}
	return c.stands(ctx)
}

// isLate reports whether a frame stands where the stream has lost another one: the node has applied a different
// commit there, and it applies only commits of the log.
func (c *cursor) isLate(f *Frame) bool {
	if c.applied == nil || f.At.LSN > c.memory().LSN {
		return false
	}
	found, ok := c.own.Find(f.At.LSN)
	return ok && found != f.At
}

// isNext reports whether a frame is the next commit for this node although the stream has lost the one before
// it: the frame continues what the node has applied.
func (c *cursor) isNext(f *Frame) bool {
	if c.applied == nil || c.at.LSN >= c.memory().LSN || f.At == c.placing {
		return false
	}
	end := tail{next: c.next, at: c.memory()}
	return end.continues(f)
}

// lacks returns errBehind if the stream shows that this node lacks a part of the log.
func (c *cursor) lacks() error {
	if c.ahead == (job.Position{}) {
		return nil
	}
	return fmt.Errorf("%w: this node is at %v, and the stream goes on with %v", errBehind, c.at, c.ahead)
}

// catchUp judges the messages up to the end of the stream, and calls accept for each accepted frame. When it
// returns nil, the cursor was at the end a moment ago. After an error of the stream a later call goes on from
// where this one stopped. It reads message by message and needs no consumer, so it works also while JetStream
// cannot make one.
//
// It is for a node that leads, or is about to: no other node makes the stream longer meanwhile. A follower calls
// readOn, because the stream may grow faster than it reads.
func (c *cursor) catchUp(ctx context.Context, accept func(f *Frame) error) error {
	for {
		if end, err := c.readOn(ctx, accept, func() bool { return false }); end || err != nil {
			return err
		}
	}
}

// readOn judges the messages up to what is the end of the stream when it is called, and calls accept for each
// accepted frame. It stops earlier, after a message, when enough returns true. end says that the cursor was at the
// end already.
func (c *cursor) readOn(ctx context.Context, accept func(f *Frame) error, enough func() bool) (end bool, err error) {
	first, last, err := c.stream.Bounds(ctx)
	if err != nil {
		return false, err
	}
	if last < c.seq { // the stream has lost its end
		return false, c.locate(ctx)
	}
	if before := first - min(first, 1); c.seq < before {
		c.moveTo(before, imprint{})
	}
	if c.seq == last {
		return true, nil
	}
	return false, c.readTo(ctx, last, accept, enough)
}

// readTo judges the messages up to a sequence, or until enough returns true.
func (c *cursor) readTo(ctx context.Context, last uint64, accept func(f *Frame) error, enough func() bool) error {
	window := window{cursor: c, last: last}
	for c.seq < last {
		message, err := window.get(ctx, c.seq+1)
		if errors.Is(err, errNoMessage) {
			return c.skip(ctx, c.seq+1)
		}
		if err != nil {
			return err
		}
		f, v, err := c.step(ctx, c.seq+1, message)
		if err == nil && v == accepted {
			err = accept(&f)
		}
		if err != nil || enough() {
			return err
		}
	}
	return nil
}

// skip moves past a message that does not exist, unless the stream now ends before it. A loss at the end must
// not be skipped: other messages will have these sequences.
func (c *cursor) skip(ctx context.Context, seq uint64) error {
	first, last, err := c.stream.Bounds(ctx)
	if err == nil && seq >= first && seq <= last {
		c.follows(seq, imprint{})
	}
	return err
}
