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

	// ahead is a frame that is void here though its leader was not deposed, that is further in the log than
	// this place, and that continues nothing in this node's own log. Zero: none. As long as there is one, some of the log is missing here.
	ahead job.Position
}

// errBehind says that the stream begins after the place where a node is.
var errBehind = errors.New("replication: the stream does not have what follows this node's log any more")

// has tells whether a position is part of the node's log.
func (c *cursor) has(at job.Position) bool {
	found, ok := c.own.Find(at.LSN)
	return ok && found == at
}

// hasBefore tells whether the node's log has what a frame continues.
func (c *cursor) hasBefore(f *Frame) bool {
	before, ok := c.own.Find(f.At.LSN - 1)
	return ok && f.At.LSN > 0 && before.Hash == f.Prev
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
		if f.At.LSN > c.at.LSN && f.At.Epoch >= c.at.Epoch && !c.hasBefore(&f) {
			c.ahead = f.At
		}
	}
	if v == accepted && f.At.LSN >= c.ahead.LSN {
		c.ahead = job.Position{}
	}
	if v != suspect {
		c.seq = seq
		return f, v, nil
	}
	c.looked = seq
	return f, suspect, c.locate(ctx)
}

// lacks returns errBehind if the stream has what this node would need to be at the log's end.
func (c *cursor) lacks() error {
	if c.ahead == (job.Position{}) {
		return nil
	}
	return fmt.Errorf("%w: this node is at %v, and the stream goes on with %v", errBehind, c.at, c.ahead)
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
