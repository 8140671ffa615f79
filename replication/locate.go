package replication

import (
	"context"
	"errors"
	"fmt"

	"github.com/carillon-io/carillon/job"
)

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
	c.ahead = job.Position{}
	known, whole, err := c.review(ctx, first, seq)
	if err != nil {
		return err
	}
	if len(known) == 0 {
		return c.locateFirst(ctx, first, last)
	}
	c.goBefore(oldestOfRun(known))
	if !whole {
		return nil
	}
	// What came before the run is to be judged, too, if the beginning of the stream is no earlier in the log.
	here, at := c.seq, c.at
	err = c.locateFirst(ctx, first, last)
	if err == nil && c.at.LSN >= at.LSN {
		return nil
	}
	c.seq, c.at = here, at
	if errors.Is(err, errBehind) {
		return nil
	}
	return err
}

// placed is a frame and where it stands in the stream.
type placed struct {
	seq uint64
	*Frame
}

// review returns the frames that are part of the node's log among the messages up to a sequence, the
// newest first: those of reviewMessages messages from the newest on; whole says that these go back to the
// beginning of the stream.
func (c *cursor) review(ctx context.Context, first, seq uint64) (known []placed, whole bool, err error) {
	for left := reviewMessages; seq >= first && seq > 0 && left > 0; seq-- {
		f, err := c.readFrame(ctx, seq)
		if err != nil {
			return nil, false, err
		}
		if f != nil && c.has(f.At) {
			known = append(known, placed{seq, f})
		}
		if len(known) > 0 {
			left--
		}
	}
	return known, seq < first || seq == 0, nil
}

// oldestOfRun returns the frame with which the run begins that leads up to the newest commit. A frame
// that came a second time, late, may stand anywhere and is no part of it.
func oldestOfRun(known []placed) placed {
	run := known[0]
	for _, p := range known {
		if p.At.LSN >= run.At.LSN {
			run = p
		}
	}
	for _, p := range known {
		if p.seq < run.seq && (p.At.LSN == run.At.LSN || p.At.LSN+1 == run.At.LSN) {
			run = p
		}
	}
	return run
}

// goBefore takes the place before a frame that is part of the node's log; or after it, where the log
// begins.
func (c *cursor) goBefore(p placed) {
	c.seq, c.at = p.seq, p.At
	if c.hasBefore(p.Frame) {
		c.seq = p.seq - 1
		c.at, _ = c.own.Find(p.At.LSN - 1)
	}
}

// reviewMessages is how many messages are judged again after a place had to be found anew.
const reviewMessages = 32

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
		if !c.hasBefore(f) {
			return fmt.Errorf("%w: it begins with %v, and the log ends with %v", errBehind, f.At, own)
		}
		c.seq = seq - 1
		c.at, _ = c.own.Find(f.At.LSN - 1)
		return nil
	}
	// There is nothing to read. The newest commit of the log may never have been in the stream.
	c.seq, c.at = last, own
	if before, ok := c.own.Find(own.LSN - min(own.LSN, 1)); ok {
		c.at = before
	}
	return nil
}
