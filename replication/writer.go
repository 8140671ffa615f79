package replication

import (
	"context"
	"errors"
	"fmt"

	"github.com/carillon-io/carillon/job"
)

// writer is the side of the log that publishes: it brings one frame after the other into the stream,
// and knows of each whether it became part of the log. It is for one goroutine.
type writer struct {
	cursor
	log history // of the node; own is what of it stands before the frame that is being placed
	buf []byte

	// frame reads a commit of the node's own log, false if it is not kept any more.
	frame func(lsn uint64) (Frame, bool, error)
	// restore makes a stream that is gone anew; nil if this node must not.
	restore func(ctx context.Context) error
	// warn is told why a frame is not in the stream yet; nil tells nobody.
	warn func(err error)
}

// ErrDeposed says that the log goes on without this node: another leads.
var ErrDeposed = errors.New("replication: another node leads")

// overtaken is ErrDeposed with the frame that stands where this node wanted to put one.
type overtaken struct{ at job.Position }

func (o *overtaken) Error() string { return fmt.Sprintf("%v: it went on with %v", ErrDeposed, o.at) }
func (o *overtaken) Unwrap() error { return ErrDeposed }

// place brings a frame into the stream and returns when it is part of the log: nil. It returns
// ErrDeposed, as an *overtaken if it knows by what, when it cannot become part of it any more; and ctx's
// error, after which nobody knows.
//
// One frame is under way at a time, and the stream takes it only where this node has judged all that
// stands before it. An acknowledgement for exactly the next sequence counts as proof; whatever else
// happens, the stream is read until the frame, or another in its place, is found. (It is none if the
// stream has lost its end and grown to the same length again since the last publish. The frame is on this
// node's disk then, and those who read the stream anew are sent a checkpoint.)
func (w *writer) place(ctx context.Context, f *Frame) error {
	w.own = upTo{w.log, f}
	defer func() { w.own = w.log }()
	for w.at != f.At {
		if err := ctx.Err(); err != nil {
			return err
		}
		next, err := w.following(f)
		if err == nil {
			err = w.publish(ctx, &next)
		}
		if err == nil {
			continue
		}
		if !errors.Is(err, errWrongSequence) {
			w.complain(err)
		}
		if err = w.resolve(ctx, f, err); errors.Is(err, ErrDeposed) {
			return err
		}
		if err != nil {
			w.complain(err)
			_ = w.stream.Pause(ctx) // what fails now may work later; ctx bounds it
		}
	}
	return nil
}

func (w *writer) complain(err error) {
	if w.warn != nil {
		w.warn(err)
	}
}

// upTo is the part of a history before a frame.
type upTo struct {
	history
	end *Frame
}

func (u upTo) Find(lsn uint64) (job.Position, bool) {
	if lsn >= u.end.At.LSN {
		return job.Position{}, false
	}
	return u.history.Find(lsn)
}

func (u upTo) Last() job.Position {
	if last := u.history.Last(); last.LSN < u.end.At.LSN {
		return last
	}
	return job.Position{LSN: u.end.At.LSN - 1, Epoch: u.end.At.Epoch, Hash: u.end.Prev}
}

// following returns the frame to publish next: f, or one before it that the stream has lost.
func (w *writer) following(f *Frame) (Frame, error) {
	if w.at.LSN+1 >= f.At.LSN {
		return *f, nil
	}
	lost, ok, err := w.frame(w.at.LSN + 1)
	if err != nil || ok {
		return lost, err
	}
	// The checkpoint has what the log does not keep any more. Who lacks it is to get that.
	w.at = job.Position{LSN: f.At.LSN - 1, Epoch: w.at.Epoch, Hash: f.Prev}
	return *f, nil
}

// publish sends one frame, which is part of the log when it returns nil.
func (w *writer) publish(ctx context.Context, f *Frame) error {
	w.buf = appendFrame(w.buf[:0], f)
	seq, err := w.stream.Publish(ctx, w.buf, w.seq)
	if err == nil && seq != w.seq+1 {
		err = errWrongSequence // it is stored, but something else may stand before it
	}
	if err == nil {
		w.seq, w.at = seq, f.At
	}
	return err
}

// resolve brings the cursor to the end of the stream after a publish that is not known to be good. It
// returns ErrDeposed if the log goes on with another frame than f; other errors are to be tried again.
func (w *writer) resolve(ctx context.Context, f *Frame, cause error) error {
	switch {
	case errors.Is(cause, errStreamGone) && w.restore != nil:
		if err := w.restore(ctx); err != nil {
			return err
		}
		w.seq = 0
	case !errors.Is(cause, errWrongSequence):
		// It may be under way still. Publishing it a second time harms nothing.
		if err := w.stream.Pause(ctx); err != nil {
			return err
		}
	}
	// The place is found anew: the stream may have lost its end, and have its length again.
	err := w.locate(ctx)
	if err == nil {
		err = w.catchUp(ctx, func(got *Frame) error { return w.recognise(f, got) })
	}
	if errors.Is(err, errReached) {
		return nil
	}
	if errors.Is(err, errBehind) {
		return w.leap(ctx, f)
	}
	return err
}

// errReached ends a reading at the frame that it was about.
var errReached = errors.New("replication: found")

// recognise looks at an accepted frame: it is f, or one of the node's own log again, or another's. Two
// nodes that begin the same epoch at the same place make the same frame: unless this node's log has it,
// who wrote it counts.
func (w *writer) recognise(f, got *Frame) error {
	switch {
	case got.At == f.At && (got.Author == f.Author || w.logged(f.At)):
		return errReached
	case w.has(got.At):
		return nil
	default:
		return &overtaken{got.At}
	}
}

// logged tells whether a position is part of the node's log, whatever is being placed.
func (w *writer) logged(at job.Position) bool {
	found, ok := w.log.Find(at.LSN)
	return ok && found == at
}

// leap goes to the end of a stream that holds nothing of this node's log, as after somebody has emptied
// it: unless a later leader wrote there, the log goes on from that place. The newest message alone does not
// tell: it may be an earlier try of this node, behind the later leader's.
func (w *writer) leap(ctx context.Context, f *Frame) error {
	first, last, err := w.stream.Bounds(ctx)
	if err != nil {
		return err
	}
	for seq, left := last, reviewMessages; seq >= first && seq > 0 && left > 0; seq, left = seq-1, left-1 {
		got, err := w.readFrame(ctx, seq)
		if err != nil {
			return err
		}
		if got != nil && got.At.Epoch > f.At.Epoch {
			return &overtaken{got.At}
		}
	}
	w.seq = last
	w.at = job.Position{LSN: f.At.LSN - 1, Epoch: w.at.Epoch, Hash: f.Prev}
	return nil
}
