package replication

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"time"
)

// A leader that hands over first stops launches, and gives the lease up when the outcomes of the launches are
// in the log. If the stream stands still, as during an election among its servers, that would take seconds:
// nothing would be launched, and the successor, which could not begin its epoch either, would launch again what
// the log does not show. So the leader first verifies that commits are confirmed promptly. While they are not,
// it goes on leading, because launches do not need the stream. If the stream stops at that very moment, the
// leader resumes launching after restTime. Where every commit is slow, as on a busy disk, launches pause for about one.

// Times of a hand-over.
const (
	// promptTime is how long the confirmation of a commit may take if the stream is to count as working: longer than a commit
	// takes on a slow disk, and shorter than an election among NATS servers, which is 4 to 9 s. Over slow links it is up to promptMost,
	// see [Node.prompt].
	promptTime = time.Second
	promptMost = 2 * time.Second
	// answerTime is how long a hand-over waits for the answers to attempts in flight. The next leader launches
	// again what has no answer by then.
	answerTime = 50 * time.Millisecond
	// restTime bounds the wait for requests under way, and for the confirmation of all known outcomes, once
	// launches have stopped. Usually that takes one commit. Where that took longer a moment ago, the bound is twice as long.
	restTime = 400 * time.Millisecond
	// resignTime is how long a node that is to end goes on leading while the stream stands still: an election
	// among NATS servers takes 4 to 9 s. Without a standby the node waits for resignAlone only.
	resignTime  = 10 * time.Second
	resignAlone = 2 * time.Second
	resignEvery = 500 * time.Millisecond // between two attempts
)

// publish places a frame of the leader in the stream, and records since when it waits. Only one commit waits at
// a time, so one instant is enough.
func (n *Node) publish(ctx context.Context, f *Frame) error {
	began := n.opts.Boot()
	n.unconfirmed.Store(int64(began))
	defer n.unconfirmed.Store(0)
	err := n.writer.place(ctx, f)
	if other := (*overtaken)(nil); errors.As(err, &other) && other.at.Epoch > f.At.Epoch {
		n.leadership.passed.Store(true)
	}
	if err == nil {
		n.placedIn.Store(int64(n.opts.Boot() - began))
	}
	return err
}

// prompt returns how long the confirmation of a commit may take if the stream is to count as working. It is four times as long as
// that of the last one, where that is more than promptTime: a commit may wait for another one, and a round trip may be a part
// of a second.
func (n *Node) prompt() time.Duration {
	return min(max(promptTime, 4*time.Duration(n.placedIn.Load())), promptMost)
}

// waits returns how long the commit in progress has waited for its confirmation; 0 if none waits.
func (n *Node) waits(now time.Duration) time.Duration {
	if since := n.unconfirmed.Load(); since != 0 {
		return now - time.Duration(since)
	}
	return 0
}

// stillError says that the leader does not hand over because the stream stands still. The node goes on leading.
type stillError struct {
	Waited time.Duration // how long the oldest commit without a confirmation has waited
}

// Error implements error.
func (e *stillError) Error() string {
	return fmt.Sprintf("the log has not acknowledged commits for %d ms, so this node leads on; try again when it does", e.Waited.Milliseconds())
}

// still returns the reason for which the leader cannot hand over; noticed is when it found that out.
func (n *Node) still(noticed time.Duration) error {
	now := n.opts.Boot()
	if n.leadership.ctx.Err() != nil {
		return ErrDeposed
	}
	return &stillError{Waited: max(n.waits(now), now-noticed)}
}

// awaitPrompt returns how long the stream took to confirm a commit, if that is prompt. Launches and requests go on meanwhile.
func (n *Node) awaitPrompt(ctx context.Context) (took time.Duration, err error) {
	now := n.opts.Boot()
	most := n.prompt()
	if n.waits(now) > most {
		return 0, n.still(now)
	}
	ctx, cancel := context.WithTimeout(ctx, most)
	defer cancel()
	if n.local.Confirm(ctx) != nil || n.awaitConfirmed(ctx) != nil {
		return 0, n.still(now)
	}
	return n.opts.Boot() - now, nil
}

// confirmedEvery is the time between two checks of what is confirmed.
const confirmedEvery = 2 * time.Millisecond

// awaitConfirmed waits until the stream has all commits of this node's log. With [Options.Local] that can be
// later than the replies to them.
func (n *Node) awaitConfirmed(ctx context.Context) error {
	last := n.local.Last().LSN
	for n.writer.confirmed.Load() < last {
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(confirmedEvery):
		}
	}
	return nil
}

// pause stops the launches and commits of a leader whose stream works. After an error they go on.
func (n *Node) pause(ctx context.Context) error {
	took, err := n.awaitPrompt(ctx)
	if err != nil {
		return err
	}
	if err = n.stopWork(ctx, max(restTime, 2*took)); err != nil {
		if err := n.local.Continue(); err != nil {
			return localError{err}
		}
	}
	return err
}

// stopWork stops launches and commits, and returns nil if all their outcomes are confirmed before rest is over. Launches stop
// first, because their outcomes are what the commits after it record.
func (n *Node) stopWork(ctx context.Context, rest time.Duration) error {
	n.opts.Logger.Debug("launches end for a hand-over")
	answering, cancel := context.WithTimeout(ctx, answerTime)
	n.local.Hold(answering)
	cancel()
	now := n.opts.Boot()
	resting, cancel := context.WithTimeout(ctx, rest)
	defer cancel()
	if n.local.Rest(resting) != nil || n.awaitConfirmed(resting) != nil {
		return n.still(now)
	}
	return nil
}

// service is the engine of a leader while it runs. It belongs to the loop of the leader; only ended is written
// by another goroutine.
type service struct {
	stop   func()
	opened chan struct{} // it takes requests
	ended  chan error

	resigns time.Duration // since when the node is to end; 0: it is not to end
	tried   time.Duration // when it last tried to hand over for that reason

	successor string // node for which the lease was given up; "": any, or it was not
	epoch     uint64 // of the leadership that has ended
}

// handOver lets another node lead, if a standby can take over and the stream works. It reports whether this
// node has stopped leading. If it goes on leading, the error says why.
func (n *Node) handOver(ctx context.Context, s *service, h handover) (over bool, err error) {
	to, err := n.liveSuccessor(ctx, h.to)
	if err == nil {
		err = n.auditHandover(n.leadership.ctx, h, to)
	}
	if err == nil {
		err = n.pause(n.leadership.ctx)
	}
	if err != nil {
		h.reply("", err)
		return false, err
	}
	err = n.stepAside(ctx, s, to)
	h.reply(to, err)
	return true, err
}

// resign gives the lease up so that the process can end: for a level standby, or for any node if there is none.
// It reports whether it did. While the stream stands still this node goes on leading, for a bounded time.
func (n *Node) resign(ctx context.Context, s *service) (over bool, err error) {
	if s.tried != 0 && n.opts.Boot()-s.tried < resignEvery {
		return false, nil
	}
	most := resignTime
	to, err := n.liveSuccessor(ctx, "")
	if err != nil {
		to, most = "", resignAlone
	}
	waited := n.opts.Boot() - s.resigns
	err = n.pause(n.leadership.ctx)
	if failure := (localError{}); errors.As(err, &failure) {
		return false, err
	}
	if s.tried = n.opts.Boot(); err != nil && waited < most {
		n.warn("this node is to end, and leads on for some seconds", err)
		return false, nil
	}
	if err != nil {
		n.opts.Logger.Warn("this node ends, and the log may not have all that it launched: the successor launches that again", slog.Any("error", err))
		if n.stopWork(n.leadership.ctx, restTime) != nil {
			n.leadership.end() // the log shows whether the commit in progress is part of it
		}
	}
	return true, n.stepAside(ctx, s, to)
}

// stepAside ends this leadership in favour of another node. Launches and commits have stopped, or resign has
// given up waiting for them. The engine has ended before the lease is released, so that no commit of it follows
// the release.
func (n *Node) stepAside(ctx context.Context, s *service, to string) error {
	n.opts.Logger.Info("handing over", slog.String("to", to))
	s.stop()
	err := <-s.ended
	s.successor, s.epoch = to, n.local.Last().Epoch
	n.giveUp(to)
	return err
}

const (
	// successorTime bounds how long a node that ends waits until its successor leads.
	successorTime = 3 * time.Second
	// yieldTime bounds how long a node that goes on does, before it makes its engine a standby's. A longer time would only
	// delay a copy where the successor has failed.
	yieldTime = time.Second
	// yieldPause is for the launches that have waited for the successor: it has them behind it by then.
	yieldPause = 100 * time.Millisecond
)

// yield lets the successor begin before this node does anything that takes long. A node that ends has to live until then, because
// its NATS server may carry the successor's requests. One that goes on loads its engine again, which takes a processor for some
// milliseconds to seconds: on that of its other shards, and of its NATS server.
func (n *Node) yield(ctx context.Context, s *service) {
	switch {
	case s.successor == "":
	case n.resigned():
		if !n.awaitSuccessor(ctx, s.epoch, successorTime) && ctx.Err() == nil {
			n.opts.Logger.Warn("the successor does not say that it leads; this node ends all the same", slog.Duration("waited", successorTime))
		}
	default:
		n.publishStatus(RoleJoining) // it is neither a leader nor a standby that could lead
		if n.awaitSuccessor(ctx, s.epoch, yieldTime) {
			n.wait(ctx, yieldPause)
		}
	}
}

// awaitSuccessor waits until a node leads in a later epoch, and reports whether one does before the time is over.
func (n *Node) awaitSuccessor(ctx context.Context, epoch uint64, most time.Duration) bool {
	end := time.After(most)
	tick := time.NewTicker(successorEvery)
	defer tick.Stop()
	for {
		if p, ok := n.peers.leader(n.opts.Boot()); ok && p.Node != n.opts.Node && p.Epoch > epoch {
			return true
		}
		select {
		case <-ctx.Done():
			return false
		case <-end:
			return false
		case <-tick.C:
		}
	}
}

// successorEvery is the time between two checks for the successor.
const successorEvery = 5 * time.Millisecond
