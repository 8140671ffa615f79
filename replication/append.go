package replication

import (
	"context"
	"time"

	"github.com/carillon-io/carillon/instant"
	"github.com/carillon-io/carillon/job"
)

// How a leader adds commits to the log of the cluster.

// Append implements the engine's log: it adds a commit to the cluster's log. It returns ErrDeposed if another
// node leads. After that error, or when the leadership has ended, the commit may or may not be part of the log.
//
// nil means that the commit counts, by the durability of [Options.Local]: only then may the engine answer the
// caller and launch what the commit decides. Append uses payload only until it returns. Unless the standbys may
// lag, it waits for as long as the stream does not confirm: an error would leave the engine with a commit of
// which it cannot know whether it is part of the log.
func (n *Node) Append(epoch uint64, payload []byte) (job.Position, error) {
	prev := n.local.Last()
	f := Frame{
		Cluster: n.id, Author: n.author, At: n.opts.Next(prev, epoch, payload), Prev: prev.Hash,
		Time: instant.Of(time.Now()), Payload: payload,
	}
	switch {
	case n.leadership.starting.Load():
		return n.appendFirst(&f)
	case n.opts.Local:
		return n.appendLocal(&f)
	default:
		return n.appendBoth(&f)
	}
}

// appendFirst publishes the commit that begins an epoch before it writes it to this node's log, because another
// frame may come first. Written first, a record that loses would stand in this node's log as a commit that no
// other log has.
func (n *Node) appendFirst(f *Frame) (job.Position, error) {
	if err := n.placeFirst(n.leadership.ctx, f); err != nil {
		return job.Position{}, err
	}
	return n.local.Append(f.At.Epoch, f.Payload)
}

// placeFirst brings the record of an epoch into the stream, and takes the lease if that is still to be done.
func (n *Node) placeFirst(ctx context.Context, f *Frame) error {
	if n.succession != nil {
		return n.takeAndPlace(ctx, n.succession, f)
	}
	return n.writer.place(ctx, f)
}

// appendBoth writes the frame to this node's log and publishes it, at the same time. So a commit costs the
// longer of the two and not their sum. A frame that the log has and the stream has not is no harm: it is
// unconfirmed, and accept keeps or cuts it when this node reads the stream again.
func (n *Node) appendBoth(f *Frame) (job.Position, error) {
	ctx, cancel := context.WithCancel(n.leadership.ctx)
	defer cancel()
	written := make(chan error, 1)
	go func() {
		_, err := n.local.Append(f.At.Epoch, f.Payload)
		if err != nil {
			cancel() // do not wait for the stream
		}
		written <- err
	}()
	placeErr := n.publish(ctx, f)
	if err := <-written; err != nil {
		return job.Position{}, err
	}
	if placeErr == nil {
		n.trimmer.note(f.At.LSN, n.writer.seq, len(f.Payload))
		n.awaitCopy(n.leadership.ctx, f.At)
		placeErr = n.awaitSure(n.leadership.ctx)
	}
	return f.At, placeErr
}

// mayPublish waits, before a commit is published, until no other node can lead. A candidate that begins its epoch has seen to that.
func (n *Node) mayPublish(ctx context.Context) error {
	if n.leadership.starting.Load() {
		return nil
	}
	return n.awaitSure(ctx)
}

// awaitSure waits until no other node can lead, as is so unless renewals are late, or returns ErrDeposed when ctx ends. Where NATS
// keeps what it acknowledges, the order of the stream fences a leader that has been replaced, so it returns at once. Elsewhere NATS
// can have gone back behind the epoch of the next leader, and the stream takes the commits of both.
func (n *Node) awaitSure(ctx context.Context) error {
	for n.Trust() <= 0 && !n.opts.keepsAcked() {
		if n.writer.stream.Pause(ctx) != nil {
			return ErrDeposed
		}
	}
	return nil
}

// appendLocal writes the frame to this node's log only; the pump publishes it. The channel holds one signal at
// most: the pump reads the log to its end for each.
func (n *Node) appendLocal(f *Frame) (job.Position, error) {
	if err := n.leadership.ctx.Err(); err != nil {
		return job.Position{}, ErrDeposed
	}
	at, err := n.local.Append(f.At.Epoch, f.Payload)
	select {
	case n.pumped <- struct{}{}:
	default:
	}
	return at, err
}
