package replication

import (
	"context"
	"errors"
	"fmt"
	"sync/atomic"

	"github.com/carillon-io/carillon/instant"
	"github.com/carillon-io/carillon/job"
)

// writer is the publishing side of the log: it brings one frame after the other into the stream, and finds out
// about each whether it became part of the log. It is for one goroutine, except confirmed.
type writer struct {
	cursor
	log History // the node's log; own is the part of it before the frame that is being placed
	buf []byte  // encoding of the newest publication, reused for the next
	// stamp is the time of the newest publication; each publication gets a later one, so that no two are the
	// same message.
	stamp instant.Millis
	// confirmed is the LSN of the newest frame that place has brought into the stream. Other goroutines may
	// read it.
	confirmed atomic.Uint64

	// frame returns a commit of the node's own log; false if the log does not keep it any more.
	frame func(lsn uint64) (Frame, bool, error)
	// may waits until this node may publish commits, or returns an error; nil: it always may.
	may func(ctx context.Context) error
	// restore makes a stream anew that has disappeared; nil if this node must not.
	restore func(ctx context.Context) error
	// warn is called with the reason for which a frame is not in the stream yet; nil: no call.
	warn func(err error)
}

// ErrDeposed says that the log continues without this node, because another node leads.
var ErrDeposed = errors.New("replication: another node leads")

// overtaken is ErrDeposed with the position of the frame that another node put in the place of this node's
// frame.
type overtaken struct{ at job.Position }

func (o *overtaken) Error() string { return fmt.Sprintf("%v: it went on with %v", ErrDeposed, o.at) }
func (o *overtaken) Unwrap() error { return ErrDeposed }

// place brings a frame into the stream, and returns nil when it is part of the log. It returns ErrDeposed when
// the frame can no longer become part of it: as an *overtaken if the other frame is known. It returns the error
// of ctx when that ends; then the frame may or may not be part of the log.
//
// Only one frame is under way at a time, and the stream accepts it only after messages that this node has
// judged. An acknowledgement with exactly the next sequence counts as proof if the stream still has the messages
// before it that this node has judged: the stream may have lost its end and grown to the same length again. In
// all other cases place reads the stream until it finds the frame behind such messages, or another one in its place.
func (w *writer) place(ctx context.Context, f *Frame) error {
	w.own, w.placing = upTo{w.log, f}, f.At
	defer func() { w.own, w.placing = w.log, job.Position{} }()
	for w.at != f.At {
		if err := ctx.Err(); err != nil {
			return err
		}
		next, err := w.nextFrame(f)
		if err == nil && w.may != nil {
			err = w.may(ctx)
		}
		if err == nil {
			err = w.publish(ctx, &next)
		}
		if err == nil {
			continue
		}
		if errors.Is(err, ErrDeposed) {
			return err
		}
		if !errors.Is(err, errWrongSequence) {
			w.complain(err)
		}
		if err = w.resolve(ctx, f, err); errors.Is(err, ErrDeposed) {
			return err
		}
		if err != nil {
			w.complain(err)
			_ = w.stream.Pause(ctx) // the next attempt may succeed; ctx bounds the loop
		}
	}
	w.confirmed.Store(f.At.LSN)
	return nil
}

func (w *writer) complain(err error) {
	if w.warn != nil {
		w.warn(err)
	}
}

// upTo is the part of a history before a frame.
//
// A leader writes a frame to its log and to the stream at the same time. The judgement of the stream must not
// depend on which of the two is faster, and a frame that only the log has is not part of the cluster's log.
type upTo struct {
	History
	end *Frame
}

func (u upTo) Find(lsn uint64) (job.Position, bool) {
	if lsn >= u.end.At.LSN {
		return job.Position{}, false
	}
	return u.History.Find(lsn)
}

func (u upTo) Last() job.Position {
	if last := u.History.Last(); last.LSN < u.end.At.LSN {
		return last
	}
	return job.Position{LSN: u.end.At.LSN - 1, Epoch: u.end.At.Epoch, Hash: u.end.Prev}
}

// nextFrame returns the frame to publish next: f, or an earlier one that the stream has lost.
func (w *writer) nextFrame(f *Frame) (Frame, error) {
	if w.at.LSN+1 >= f.At.LSN {
		return *f, nil
	}
	lost, ok, err := w.frame(w.at.LSN + 1)
	if err != nil || ok {
		return lost, err
	}
	// The log does not keep that commit any more, but a checkpoint has it: nodes that lack it receive a
	// checkpoint.
	w.at = job.Position{LSN: f.At.LSN - 1, Epoch: w.at.Epoch, Hash: f.Prev}
	return *f, nil
}

// publish sends one frame. If it returns nil, the frame is part of the log. Where NATS is not known to keep
// what it acknowledged, that costs a read before the first publication and one after each.
func (w *writer) publish(ctx context.Context, f *Frame) error {
	proven := w.keeps()
	if !proven && w.imprint == unread {
		found, err := w.standing(ctx)
		if err != nil {
			return err
		}
		w.imprint = found
	}
	f.Time = max(f.Time, w.stamp+1) // no two publications are the same message
	w.stamp = f.Time
	w.buf = appendFrame(w.buf[:0], f)
	seq, err := w.stream.Publish(ctx, w.buf, w.seq)
	if err == nil && seq != w.seq+1 {
		err = errWrongSequence // the frame is stored, but another message may stand before it
	}
	if err == nil && !proven {
		err = w.prove(ctx) // that the frame is the next one of the log
	}
	if err == nil {
		w.moveTo(seq, imprintOf(w.buf))
		w.at = f.At
	}
	return err
}

// resolve moves the cursor to the end of the stream after a publication with an uncertain result. It returns
// ErrDeposed if the log continues with another frame than f; after any other error the caller tries again.
func (w *writer) resolve(ctx context.Context, f *Frame, cause error) error {
	switch {
	case errors.Is(cause, errStreamGone) && w.restore != nil:
		if err := w.restore(ctx); err != nil {
			return err
		}
		w.moveTo(0, imprint{})
	case !errors.Is(cause, errWrongSequence):
		// The publication may still be under way. Publishing the frame a second time does no harm.
		if err := w.stream.Pause(ctx); err != nil {
			return err
		}
	}
	// The place is located anew: the stream may have lost its end and grown to its old length again.
	err := w.locate(ctx)
	if err == nil {
		err = w.catchUp(ctx, func(got *Frame) error { return w.recognise(f, got) })
	}
	if errors.Is(err, errReached) {
		if err = w.proveRead(ctx); err != nil {
			w.at = w.own.Last() // the frame is not found yet
		}
		return err
	}
	if errors.Is(err, errBehind) {
		return w.leap(ctx, f)
	}
	return err
}

// errReached stops reading at the frame that was searched for.
var errReached = errors.New("replication: found")

// recognise decides about an accepted frame: it is f, a commit of the node's own log, or another node's. Two
// nodes that begin the same epoch at the same place make equal frames: unless this node's log has it, the
// author decides.
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

// logged reports whether a position is part of the node's whole log, not only of the part before the frame
// being placed.
func (w *writer) logged(at job.Position) bool {
	found, ok := w.log.Find(at.LSN)
	return ok && found == at
}

// leap moves the cursor to the end of a stream that holds nothing of this node's log, as after an operator has
// emptied it: unless a later leader has written there, or the last one has gone on there, the log continues from there. The
// newest message alone does not show that: it may be an earlier attempt of this node, after the later leader's message.
func (w *writer) leap(ctx context.Context, f *Frame) error {
	first, last, err := w.stream.Bounds(ctx)
	if err != nil {
		return err
	}
	var end imprint // of the message at last
	for seq, left := last, reviewMessages; seq >= first && seq > 0 && left > 0; seq, left = seq-1, left-1 {
		message, err := w.get(ctx, seq)
		got, err := w.framed(message, err)
		if err != nil {
			return err
		}
		if seq == last {
			end = imprintOf(message)
		}
		if got != nil && got.At.Epoch > f.At.Epoch {
			return &overtaken{got.At}
		}
		if got != nil && got.At.Epoch == f.At.Epoch && got.At.LSN > w.log.Last().LSN && w.logged(f.At) { // f is published again, by a candidate
			return &overtaken{got.At}
		}
	}
	w.moveTo(last, end)
	w.at = job.Position{LSN: f.At.LSN - 1, Epoch: w.at.Epoch, Hash: f.Prev}
	return nil
}
