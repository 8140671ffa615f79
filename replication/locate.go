package replication

import (
	"context"
	"errors"
	"fmt"

	"github.com/carillon-io/carillon/job"
)

// locate finds where in the stream the node must read on: after a message that is part of its log; without such
// a message, before the first one if that continues the log; otherwise it returns errBehind. Commits of the
// node's log beyond that place are unconfirmed until they are read, or read again.
//
// The place is a little before the newest such message. A message that a deposed leader published late may
// stand after the one that made it void, and only reading in order shows that.
func (c *cursor) locate(ctx context.Context) error {
	if err := c.doubts(ctx); err != nil {
		return err
	}
	first, last, err := c.stream.Bounds(ctx)
	if err != nil {
		return err
	}
	seq, err := c.newestUpTo(ctx, first, last, c.sure())
	if err != nil {
		return err
	}
	c.ahead = job.Position{}
	known, whole, err := c.review(ctx, first, seq)
	if err != nil {
		return err
	}
	if len(known) == 0 {
		err := c.locateFirst(ctx, first, last)
		if errors.Is(err, errBehind) && seq == last && seq >= first {
			return c.endsBefore(ctx, seq, err)
		}
		return err
	}
	c.goBefore(oldestOfRun(known))
	if !whole {
		return nil
	}
	// The messages before the run must be judged too, if the beginning of the stream is no earlier in the log.
	here, at, imprint, trail := c.seq, c.at, c.imprint, c.trail
	err = c.locateFirst(ctx, first, last)
	if err == nil && c.at.LSN >= at.LSN {
		return nil
	}
	c.seq, c.at, c.imprint, c.trail = here, at, imprint, trail
	if errors.Is(err, errBehind) {
		return nil
	}
	return err
}

// sure returns the LSN up to which the node's log is known to be part of the cluster's. Beyond it, a message
// with a commit of this node may stand far after the one that made it void.
func (c *cursor) sure() uint64 {
	lsn := c.own.Last().LSN
	if c.applied != nil {
		lsn = min(lsn, c.memory().LSN)
	}
	return lsn
}

// placed is a frame with its sequence in the stream.
type placed struct {
	seq uint64
	*Frame
	imprint imprint // of its message
}

// review returns the frames that are part of the node's log, the newest first, among the last reviewMessages
// messages up to the newest such frame at or before a sequence. whole says that these reach back to the
// beginning of the stream.
func (c *cursor) review(ctx context.Context, first, seq uint64) (known []placed, whole bool, err error) {
	window := window{cursor: c, first: max(first, 1), back: true}
	for left := reviewMessages; seq >= first && seq > 0 && left > 0; seq-- {
		message, err := window.get(ctx, seq)
		f, err := c.framed(message, err)
		if err != nil {
			return nil, false, err
		}
		if f != nil && c.has(f.At) {
			known = append(known, placed{seq, f, imprintOf(message)})
		}
		if len(known) > 0 {
			left--
		}
	}
	return known, seq < first || seq == 0, nil
}

// oldestOfRun returns the first frame of the run that leads up to the newest commit. A frame that was published
// a second time, late, may stand anywhere; it is not part of the run. To begin there is safe: messages that are
// judged a second time are void or accepted as before.
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

// goBefore moves the cursor before a frame that is part of the node's log, or after it if the log begins with
// it.
func (c *cursor) goBefore(p placed) {
	c.emptied = false
	if !c.hasBefore(p.Frame) {
		c.moveTo(p.seq, p.imprint)
		c.at = p.At
		return
	}
	c.startAt(p.seq, p.imprint)
	c.at, _ = c.own.Find(p.At.LSN - 1)
}

// reviewMessages is how many messages are judged again when the place has to be located anew. A late message of
// a deposed leader usually stands within a few messages of the one that made it void, because a leader has only
// one publication under way. Each further message would cost a read at every takeover and after every
// publication that failed.
const reviewMessages = 32

// newestUpTo returns the sequence of roughly the newest frame with an LSN of at most lsn, or the sequence
// before the first message. LSNs grow with the sequences, except for the few frames that are void or were
// published twice, so it searches by halving.
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

// locateFirst moves the cursor before the first frame if that frame continues the node's log.
func (c *cursor) locateFirst(ctx context.Context, first, last uint64) error {
	own := c.own.Last()
	var end imprint // of the message at last; of none if it is gone, as in an empty stream
	for seq := first; seq <= last; seq++ {
		message, err := c.get(ctx, seq)
		f, err := c.framed(message, err)
		if err != nil {
			return err
		}
		if end = imprintOf(message); f == nil {
			continue
		}
		if !c.hasBefore(f) {
			return fmt.Errorf("%w: it begins with %v, and the log ends with %v", errBehind, f.At, own)
		}
		c.startAt(seq, imprintOf(message))
		c.emptied = false
		c.at, _ = c.own.Find(f.At.LSN - 1)
		return nil
	}
	// The stream has no frames. The newest commit of the log may never have been in it. A stream that the node
	// had read to its end before it was emptied hid nothing. The stream may also have lost all while it was read: then others have,
	// at the end that it had, what this node has not read.
	c.emptied = last > 0 && c.seq != last
	c.moveTo(last, end)
	c.at = own
	if before, ok := c.own.Find(own.LSN - min(own.LSN, 1)); ok {
		c.at = before
	}
	return nil
}

// errEarly is the errBehind of a stream that ends before the base of the node's log, as right after a
// checkpoint: the server that answered does not have the end yet, or the stream has lost it and the leader
// publishes it again. Another checkpoint would not be newer.
var errEarly = fmt.Errorf("%w: it ends before the place where the log begins", errBehind)

// endsBefore returns errEarly if the last message is a frame from before the node's log, and otherwise found.
func (c *cursor) endsBefore(ctx context.Context, seq uint64, found error) error {
	f, err := c.readFrame(ctx, seq)
	if err != nil {
		return err
	}
	own := c.own.Last()
	if f == nil || f.At.LSN >= own.LSN || f.At.Epoch > own.Epoch {
		return found
	}
	if _, kept := c.own.Find(f.At.LSN); kept {
		return found // the frame went another way than the node's log
	}
	return fmt.Errorf("%w: it ends with %v, and the log with %v", errEarly, f.At, own)
}
