package replication

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"time"

	"github.com/carillon-io/carillon/job"
)

// lead runs one leadership: the node reads the log to its end, begins an epoch, and leads until it is deposed,
// hands over, or ctx ends. It returns an error only if the node itself fails.
func (n *Node) lead(ctx context.Context, ready func(role string)) error {
	leading, end := context.WithCancel(ctx)
	defer end()
	n.leadership.ctx, n.leadership.end = leading, end
	// Renewals begin before the log is read: that can take longer than the grace of the claim. With a succession they begin
	// once the lease is taken.
	if n.succession == nil {
		n.helps(leading)
	}
	defer n.endLeadership()
	if err := n.open(leading); err != nil {
		n.giveBack()
		if failure := (localError{}); errors.As(err, &failure) {
			return err
		}
		if ctx.Err() != nil {
			return nil
		}
		n.opts.Logger.Warn("this node does not lead after all", slog.Any("error", err))
		return n.withdraw()
	}
	n.awaiting.over = true
	at := n.local.Last()
	n.opts.Logger.Info("this node leads", slog.Uint64(job.LogEpoch, at.Epoch), slog.Uint64("lsn", at.LSN))
	n.peers.leads(n.opts.Boot()) // before requests are taken: from then on nodes count that only the log has noted
	return n.serve(ctx, leading, func() { ready(RoleLeader) })
}

// openTime bounds how long a node that has the lease tries to begin its epoch. After it the node gives the
// lease up: another node may have a better connection to the stream.
const openTime = 5 * time.Second

// errUntrusted says that this node does not know any more that no other node has the lease.
var errUntrusted = errors.New("replication: the lease is not confirmed any more")

// open reads the log to its end and begins an epoch there. It tries again until openTime is over. A failure of
// Local ends the node. After a loss of the lease, or if the stream shows that this node lacks commits, another
// attempt cannot succeed either.
//
// It requires that the lease is confirmed before the record of the epoch is sent, so that no rightful leader is deposed, and
// again once the record is in the stream. A node that was cut off meanwhile may have lost the lease to a leader that still
// answers reads; what this node acknowledged in its epoch, those reads would not show.
func (n *Node) open(ctx context.Context) error {
	n.publishStatus(RoleCandidate)
	begun, again := n.opts.Boot(), false
	for ; ; again = true {
		err := n.openOnce(ctx, again)
		if err == nil {
			err = n.awaitTrust(ctx, begun+openTime)
		}
		failure := localError{}
		switch {
		case err == nil:
			n.leadership.starting.Store(false)
			n.complete.Store(true)
			return nil
		case errors.As(err, &failure), !n.holds(ctx), errors.Is(err, errUntrusted), errors.Is(err, errBehind), errors.Is(err, errDiverged):
			return err
		case errors.Is(err, ErrDeposed): // a frame of the previous leader came first
		case n.opts.Boot()-begun > openTime:
			return err
		default:
			n.warn("the log cannot be read to its end; trying again", err)
			_ = n.writer.stream.Pause(ctx)
		}
	}
}

// openOnce makes one such attempt, from the place up to which this node has read the stream if that still stands.
// Otherwise it locates the place anew, as after another attempt: the frame that came before the record was judged but
// not accepted.
//
// The order of its steps is what makes a takeover lose nothing:
//
//   - catchUp accepts every frame that the stream has, so this node has everything that was acknowledged
//     because the stream had it; proveRead makes sure that those stand there which it has judged, one after the other;
//   - lacks refuses to lead if the stream shows a frame beyond a gap: those commits are on other disks only;
//   - confirm publishes what only this node's disk has, because that may have been acknowledged before the
//     stream lost it;
//   - Begin puts a record of a new epoch into the stream. From there on every reader rejects the frames of the
//     old leader.
//
// If a frame of the old leader comes before that record, the record is void, and the attempt begins anew.
//
// A succession has its claim and its record at the same time: it has all that the last leader had, so it reads nothing.
func (n *Node) openOnce(ctx context.Context, again bool) error {
	if n.succession == nil {
		if err := n.readToEnd(ctx, again); err != nil {
			return err
		}
		if err := n.awaitTrust(ctx, n.opts.Boot()+openTime); err != nil {
			return err
		}
	}
	return n.beginEpoch(ctx)
}

// awaitTrust waits until the lease is confirmed, as it is unless renewals are late, or returns errUntrusted: when the lease is
// lost, or end has come.
func (n *Node) awaitTrust(ctx context.Context, end time.Duration) error {
	for n.Trust() <= 0 {
		if !n.holds(ctx) || n.opts.Boot() >= end {
			return errUntrusted
		}
		_ = n.writer.stream.Pause(ctx)
	}
	return nil
}

// readToEnd makes the steps before the record.
func (n *Node) readToEnd(ctx context.Context, again bool) error {
	find := n.writer.resume
	if again {
		find = n.writer.locate
	}
	if err := find(ctx); err != nil {
		return err
	}
	if err := n.writer.catchUp(ctx, n.accept); err != nil {
		return err
	}
	if err := n.writer.proveRead(ctx); err != nil {
		return err
	}
	if err := n.writer.lacks(); err != nil {
		return err
	}
	return n.confirm(ctx)
}

// beginEpoch puts the record of a new epoch into the stream, and makes the engine the leader's.
func (n *Node) beginEpoch(ctx context.Context) error {
	if err := n.local.Begin(); errors.Is(err, ErrDeposed) || ctx.Err() != nil {
		return err
	} else if err != nil {
		return localError{err}
	}
	n.begun = true
	return nil
}

// withdraw makes the engine a standby's again, if it is the leader's.
func (n *Node) withdraw() error {
	if !n.begun {
		return nil
	}
	n.begun = false
	if err := n.local.Follow(); err != nil {
		return localError{err}
	}
	return nil
}

// holds reports whether this node has the lease, as far as it knows.
func (n *Node) holds(ctx context.Context) bool {
	return n.succession == nil && ctx.Err() == nil && n.leadership.left(n.opts.Boot()) > 0
}

// confirm publishes the commits of this node's log that the stream lacks: the last commit of a leader that died
// before publishing it, or commits that the stream has lost.
//
// Its result is that log, store and stream end at the same commit, so that the record of the epoch continues
// all three.
func (n *Node) confirm(ctx context.Context) error {
	for last := n.local.Last(); n.writer.at.LSN < last.LSN; {
		f, ok, err := n.ownFrame(n.writer.at.LSN + 1)
		if err != nil {
			return localError{err}
		}
		if !ok {
			if err := n.skipLost(); err != nil {
				return err
			}
			continue
		}
		if err := n.writer.place(ctx, &f); err != nil {
			return err
		}
		if err := n.accept(&f); err != nil {
			return err
		}
	}
	return n.applyTo(n.local.Last().LSN)
}

// skipLost moves the writer to the base of this node's log, where the stream has lost commits that the log does not keep: a
// checkpoint has them, and nodes that lack them receive one. The stream must end with an ancestor of the base: otherwise
// nothing shows that the log goes on from there.
func (n *Node) skipLost() error {
	at, base := n.writer.at, n.local.Base()
	if found, ok := n.local.Find(at.LSN); !ok || found != at || at.LSN >= base.LSN {
		return fmt.Errorf("replication: the log does not keep commit %d, which the stream has lost", at.LSN+1)
	}
	n.opts.Logger.Warn("the stream has lost commits that only checkpoints have", slog.Uint64("after", at.LSN), slog.Uint64("to", base.LSN))
	n.writer.at = base
	return nil
}

// serve runs the engine as the leader, and hands over when an operator or the end of the process asks for that.
// It is the loop of Run while the node leads: a hand-over blocks it for as long as the hand-over takes, while
// renewals and beats go on. It sleeps until something happens; only a node that is to end, and still leads, looks again
// by itself. The node says that it leads once its engine takes requests: a node that hears that sends them.
func (n *Node) serve(ctx, leading context.Context, ready func()) error {
	serving, stop := context.WithCancel(leading)
	defer stop()
	s := service{stop: stop, opened: make(chan struct{}, 1), ended: make(chan error, 1)}
	go func() { s.ended <- n.local.Serve(serving, func() { ready(); s.opened <- struct{}{} }) }()
	wanted := n.wanted.begin()
	defer n.wanted.end()
	again := time.NewTimer(0)
	again.Stop()
	defer again.Stop()
	asked := n.stop
	for {
		over, err := false, error(nil)
		select {
		case err := <-s.ended:
			return n.afterServing(ctx, err)
		case <-s.opened:
			n.publishStatus(RoleLeader)
			n.host.beatOnce() // the previous leader waits for this beat before it ends
		case l := <-n.lease:
			n.sawLease(l)
			n.publishStatus(n.Role())
		case <-n.answers:
		case h := <-wanted:
			over, err = n.handOver(ctx, &s, h)
		case <-asked:
			asked, s.resigns = nil, n.opts.Boot()
			over, err = n.resign(ctx, &s)
		case <-again.C:
			over, err = n.resign(ctx, &s)
		}
		if s.resigns != 0 {
			again.Reset(checkEvery)
		}
		if over {
			n.wanted.end() // an operator who asks meanwhile need not wait for the successor
			n.yield(ctx, &s)
		}
		if failure := (localError{}); over || errors.As(err, &failure) {
			return n.afterServing(ctx, err)
		}
	}
}

// endLeadership stops the goroutines that work beside the engine: the lease is not renewed any more.
func (n *Node) endLeadership() {
	n.leadership.end()
	n.leadership.helpers.Wait()
}

// afterServing makes the node follow again, unless the process ends. If the engine has failed by itself, the
// node gives the lease up before it ends, so that another node takes over at once and not at the end of the
// lease.
func (n *Node) afterServing(ctx context.Context, err error) error {
	over := ctx.Err() != nil || n.resigned()
	if err != nil && !over && !errors.Is(err, ErrDeposed) && n.leadership.ctx.Err() == nil {
		n.giveUp("")
		return localError{err}
	}
	n.leadership.end()
	n.endTrust()
	if over {
		return nil
	}
	n.learnsEnd()
	n.publishStatus(RoleStandby)
	return n.withdraw()
}

// learnsEnd lets the challenger know how this leadership has ended.
func (n *Node) learnsEnd() {
	if r := &n.leadership; r.passed.Load() {
		n.challenger.passed(n.opts.Boot(), r.value.Term)
	}
}

// giveBack gives the lease up after a leadership that did not begin. A succession that has failed has none.
func (n *Node) giveBack() {
	if n.succession == nil {
		n.giveUp("")
		return
	}
	n.succession = nil
	n.endLeadership()
}

// giveUpTime bounds the release of the lease. A longer bound would delay the end of the process during an
// election, when the release cannot succeed.
const giveUpTime = time.Second

// giveUp releases the lease. If that fails, the other nodes wait for the end of the lease.
func (n *Node) giveUp(to string) {
	n.endLeadership()
	ctx, cancel := context.WithTimeout(context.Background(), giveUpTime)
	defer cancel()
	if err := n.release(ctx, to); err != nil {
		n.warn("the lease was not given up", err)
	}
}
