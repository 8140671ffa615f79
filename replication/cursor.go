package replication

import (
	"context"
	"errors"
	"fmt"

	"github.com/carillon-io/carillon/job"
)

// history answers what a node's own log has.
type history interface {
	// Find returns the position of a commit that the log keeps, or of the place where it begins.
	Find(lsn uint64) (at job.Position, ok bool)
	// Last returns the position of the newest commit.
	Last() job.Position
}

// cursor is a place in the stream and in the log at once: every message up to seq is judged.
type cursor struct {
	tail
	stream stream
	own    history
	seq    uint64
	looked uint64 // suspects up to this sequence were looked into
}

// errBehind says that the stream begins after the place where a node is.
var errBehind = errors.New("replication: the stream does not have what follows this node's log any more")

// has tells whether a position is part of the node's log.
func (c *cursor) has(at job.Position) bool {
	found, ok := c.own.Find(at.LSN)
	return ok && found == at
}

// locate finds where in the stream the node has to read on: after a message that is part of its log; or,
// without such a message, before the first one, if that continues the log; else errBehind. What the log
// has beyond that place is unconfirmed until it is read, or read again.
//
// The place is a little before the newest such message: what was published late, by a node that led no
// more, may stand after what made it void, and only reading in order tells.
func (c *cursor) locate(ctx context.Context) error {
	first, last, err := c.stream.Bounds(ctx)
	if err != nil {
		return err
	}
	seq, err := c.newestUpTo(ctx, first, last, c.own.Last().LSN)
	if err != nil {
		return err
	}
	left := reviewMessages
	found := false
	for ; seq >= first && seq > 0 && left > 0; seq-- {
		f, err := c.readFrame(ctx, seq)
		if err != nil {
			return err
		}
		if f != nil && c.has(f.At) {
			c.goBefore(seq, f)
			found = true
		}
		if found {
			left--
		}
	}
	if found && left == 0 {
		return nil
	}
	// All that the stream has is to be judged again, if its beginning continues the log.
	if err := c.locateFirst(ctx, first, last); !found || !errors.Is(err, errBehind) {
		return err
	}
	return nil
}

// goBefore takes the place before a frame that is part of the node's log; or after it, where the log
// begins.
func (c *cursor) goBefore(seq uint64, f *Frame) {
	c.seq, c.at = seq, f.At
	if before, ok := c.own.Find(f.At.LSN - min(f.At.LSN, 1)); ok && before.Hash == f.Prev {
		c.seq, c.at = seq-1, before
	}
}

// reviewMessages is how many messages are judged again after a place had to be found anew.
const reviewMessages = 128

// newestUpTo returns the sequence of about the newest frame with an LSN not above lsn, or one before the
// first. LSNs grow with the sequences but for the few frames that are void or came twice.
func (c *cursor) newestUpTo(ctx context.Context, first, last, lsn uint64) (uint64, error) {
	low, high := first, last+1 // the answer plus one is in [low, high]
	for low < high {
		mid := low + (high-low)/2
		at := mid
		var f *Frame
		for ; at < high && f == nil; at++ {
			var err error
			if f, err = c.readFrame(ctx, at); err != nil {
				return 0, err
			}
		}
		if f != nil && f.At.LSN <= lsn {
			low = at
		} else {
			high = mid
		}
	}
	return low - min(low, 1), nil
}

// locateFirst takes the place before the first frame, if that continues the node's log.
func (c *cursor) locateFirst(ctx context.Context, first, last uint64) error {
	own := c.own.Last()
	for seq := first; seq <= last; seq++ {
		f, err := c.readFrame(ctx, seq)
		if err != nil {
			return err
		}
		if f == nil {
			continue
		}
		before, ok := c.own.Find(f.At.LSN - min(f.At.LSN, 1))
		if !ok || before.Hash != f.Prev {
			return fmt.Errorf("%w: it begins with %v, and the log ends with %v", errBehind, f.At, own)
		}
		c.seq, c.at = seq-1, before
		return nil
	}
	// There is nothing to read. The newest commit of the log may never have been in the stream.
	c.seq, c.at = last, own
	if before, ok := c.own.Find(own.LSN - min(own.LSN, 1)); ok {
		c.at = before
	}
	return nil
}

// readFrame returns the frame of a message; nil if the message is none of this cluster, or not there.
func (c *cursor) readFrame(ctx context.Context, seq uint64) (*Frame, error) {
	message, err := c.get(ctx, seq)
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

// lagTries bounds how often a message is asked for that the stream has, and the server that answers not.
const lagTries = 100

// get returns a message, or errNoMessage if the stream does not have it. To pass over one that only has
// not come to some server yet would be to pass over a part of the log.
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

// step judges the message that follows the cursor's place. Messages must come in order; one that was
// judged already is void. A suspect is looked into at once: the place may change by that, and then
// the caller reads on from there.
func (c *cursor) step(ctx context.Context, seq uint64, message []byte) (Frame, verdict, error) {
	if seq <= c.seq {
		return Frame{}, void, nil
	}
	f, v, err := c.judge(message)
	if err != nil {
		return f, v, err
	}
	if v == suspect && (seq <= c.looked || c.has(f.At)) {
		v = void
	}
	if v != suspect {
		c.seq = seq
		return f, v, nil
	}
	c.looked = seq
	return f, suspect, c.locate(ctx)
}

// catchUp judges the messages up to the end of the stream, and calls take for each accepted frame. When
// it returns nil the cursor was at the end a moment ago.
func (c *cursor) catchUp(ctx context.Context, take func(f *Frame) error) error {
	for {
		first, last, err := c.stream.Bounds(ctx)
		if err != nil {
			return err
		}
		if last < c.seq { // the stream has lost its end
			if err := c.locate(ctx); err != nil {
				return err
			}
			continue
		}
		c.seq = max(c.seq, first-min(first, 1))
		if c.seq == last {
			return nil
		}
		if err := c.readTo(ctx, last, take); err != nil {
			return err
		}
	}
}

// readTo judges the messages up to a sequence.
func (c *cursor) readTo(ctx context.Context, last uint64, take func(f *Frame) error) error {
	for c.seq < last {
		message, err := c.get(ctx, c.seq+1)
		if errors.Is(err, errNoMessage) {
			return c.skip(ctx, c.seq+1)
		}
		if err != nil {
			return err
		}
		f, v, err := c.step(ctx, c.seq+1, message)
		if err == nil && v == accepted {
			err = take(&f)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// skip passes over a message that is not there, unless the stream has ended before it meanwhile.
func (c *cursor) skip(ctx context.Context, seq uint64) error {
	first, last, err := c.stream.Bounds(ctx)
	if err == nil && seq >= first && seq <= last {
		c.seq = seq
	}
	return err
}
