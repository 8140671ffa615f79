package replication

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"time"

	"github.com/carillon-io/carillon/job"
)

// lead is the time that this node has the lease: it reads the log to its end, begins an epoch, and
// leads until it is deposed, hands over, or ctx ends. Its error is a failure of the node itself.
func (n *Node) lead(ctx context.Context, ready func(role string)) error {
	reign, end := context.WithCancel(ctx)
	defer end()
	n.reign.ctx, n.reign.end = reign, end
	n.help(reign)
	defer n.endReign()
	if err := n.open(reign); err != nil {
		n.giveUp("")
		if failure := (localError{}); errors.As(err, &failure) {
			return err
		}
		if ctx.Err() == nil {
			n.opts.Logger.Warn("this node does not lead after all", slog.Any("error", err))
		}
		return nil
	}
	at := n.local.Last()
	n.opts.Logger.Info("this node leads", slog.Uint64(job.LogEpoch, at.Epoch), slog.Uint64("lsn", at.LSN))
	return n.serve(ctx, reign, func() { ready(RoleLeader) })
}

// open brings the node to the end of the log and begins an epoch there.
func (n *Node) open(ctx context.Context) error {
	n.publishStatus(RoleCandidate)
	for {
		// The place is found anew, each time: what overtook the record was judged but not taken, and a stream
		// may have lost its end and grown again since this node read it.
		if err := n.writer.locate(ctx); err != nil {
			return err
		}
		if err := n.writer.catchUp(ctx, n.take); err != nil {
			return err
		}
		if err := n.writer.lacks(); err != nil {
			return err
		}
		if err := n.confirm(ctx); err != nil {
			if errors.Is(err, ErrDeposed) && n.holds(ctx) {
				continue // a frame of the last leader came first
			}
			return err
		}
		err := n.local.Begin()
		switch {
		case err == nil:
			n.reign.opening.Store(false)
			return nil
		case errors.Is(err, ErrDeposed) && n.holds(ctx):
		case errors.Is(err, ErrDeposed), ctx.Err() != nil:
			return err
		default:
			return localError{err}
		}
	}
}

// holds tells whether the lease is this node's as far as it can tell.
func (n *Node) holds(ctx context.Context) bool { return ctx.Err() == nil && n.Trust() > 0 }

// confirm brings what this node's log has beyond the stream into it: the last commit of a leader that
// died in between, or what the stream has lost.
func (n *Node) confirm(ctx context.Context) error {
	for last := n.local.Last(); n.writer.at.LSN < last.LSN; {
		f, ok, err := n.ownFrame(n.writer.at.LSN + 1)
		if err != nil {
			return localError{err}
		}
		if !ok {
			return fmt.Errorf("replication: the log does not keep commit %d, which the stream has lost", n.writer.at.LSN+1)
		}
		if err := n.writer.place(ctx, &f); err != nil {
			return err
		}
		if err := n.take(&f); err != nil {
			return err
		}
	}
	return n.applyTo(n.local.Last().LSN)
}

// serve leads, and passes the lease on when that is asked for.
func (n *Node) serve(ctx, reign context.Context, ready func()) error {
	serving, stop := context.WithCancel(reign)
	defer stop()
	ended := make(chan error, 1)
	go func() { ended <- n.local.Serve(serving, ready) }()
	tick := time.NewTicker(lookEvery)
	defer tick.Stop()
	for {
		select {
		case err := <-ended:
			return n.afterServing(ctx, err)
		case l := <-n.lease:
			n.sawLease(l)
		case <-n.answers:
		case h := <-n.wanted:
			to, err := n.liveSuccessor(ctx, h.to)
			if err != nil {
				h.reply("", err)
				continue
			}
			err = n.handOver(ctx, stop, ended, to)
			h.reply(to, err)
			return n.afterServing(ctx, err)
		case <-n.stop:
			to, _ := n.liveSuccessor(ctx, "") // without one, whoever comes may have it
			return n.afterServing(ctx, n.handOver(ctx, stop, ended, to))
		case <-tick.C:
			n.publishStatus(RoleLeader)
		}
	}
}

// settleTime is how long a hand-over waits for attempts that are with their targets. What has no answer
// by then is launched again by the next leader.
const settleTime = 100 * time.Millisecond

// handOver ends the reign for another node: nothing is launched any more, what is on its way is recorded,
// and the lease is released.
func (n *Node) handOver(ctx context.Context, stop func(), ended <-chan error, to string) error {
	n.opts.Logger.Info("handing over", slog.String("to", to))
	settling, cancel := context.WithTimeout(ctx, settleTime)
	n.local.Hold(settling)
	cancel()
	stop()
	err := <-ended
	n.giveUp(to)
	return err
}

// endReign ends what goes on beside the engine: nobody renews the lease any more.
func (n *Node) endReign() {
	n.reign.end()
	n.reign.helpers.Wait()
}

// afterServing lets the node follow again, unless its end has come.
func (n *Node) afterServing(ctx context.Context, err error) error {
	over := ctx.Err() != nil || n.resigned()
	if err != nil && !over && !errors.Is(err, ErrDeposed) && n.reign.ctx.Err() == nil {
		n.giveUp("")
		return localError{err}
	}
	n.reign.end()
	n.trusted.Store(0)
	if over {
		return nil
	}
	n.publishStatus(RoleStandby)
	if err := n.local.Follow(); err != nil {
		return localError{err}
	}
	return nil
}

// giveUpTime bounds the release of the lease.
const giveUpTime = time.Second

// giveUp releases the lease. Without it the others wait for its end.
func (n *Node) giveUp(to string) {
	n.endReign()
	ctx, cancel := context.WithTimeout(context.Background(), giveUpTime)
	defer cancel()
	if err := n.release(ctx, to); err != nil {
		n.warn("the lease was not given up", err)
	}
}

// Append implements the engine's log: it makes a commit part of the cluster's log. It returns ErrDeposed
// if another node leads, and then, or when the reign has ended, nobody knows whether the commit is.
func (n *Node) Append(epoch uint64, payload []byte) (job.Position, error) {
	prev := n.local.Last()
	f := Frame{
		Cluster: n.id, Author: n.author, At: n.opts.Next(prev, epoch, payload), Prev: prev.Hash,
		Time: job.MillisOf(time.Now()), Payload: payload,
	}
	switch {
	case n.reign.opening.Load():
		return n.appendFirst(&f)
	case n.opts.Local:
		return n.appendLocal(&f)
	default:
		return n.appendBoth(&f)
	}
}

// appendFirst places the record that begins an epoch before this node's own log has it: another frame
// may come first.
func (n *Node) appendFirst(f *Frame) (job.Position, error) {
	if err := n.writer.place(n.reign.ctx, f); err != nil {
		return job.Position{}, err
	}
	return n.local.Append(f.At.Epoch, f.Payload)
}

// appendBoth writes the frame here and publishes it, side by side.
func (n *Node) appendBoth(f *Frame) (job.Position, error) {
	ctx, cancel := context.WithCancel(n.reign.ctx)
	defer cancel()
	written := make(chan error, 1)
	go func() {
		_, err := n.local.Append(f.At.Epoch, f.Payload)
		if err != nil {
			cancel() // the stream need not be waited for
		}
		written <- err
	}()
	placeErr := n.writer.place(ctx, f)
	if err := <-written; err != nil {
		return job.Position{}, err
	}
	if placeErr == nil {
		n.trimmer.note(f.At.LSN, n.writer.seq, len(f.Payload))
	}
	return f.At, placeErr
}

// appendLocal writes the frame here; the pump publishes it.
func (n *Node) appendLocal(f *Frame) (job.Position, error) {
	if err := n.reign.ctx.Err(); err != nil {
		return job.Position{}, ErrDeposed
	}
	at, err := n.local.Append(f.At.Epoch, f.Payload)
	select {
	case n.pumped <- struct{}{}:
	default:
	}
	return at, err
}
