package replication

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/carillon-io/carillon/job"
)

// The times of a standby.
const (
	checkEvery  = 50 * time.Millisecond  // between two checks of the lease and of the other nodes, unless all is calm
	calmEvery   = 500 * time.Millisecond // between two checks while all is calm: what ends the calm sooner wakes the loop
	stuckAfter  = time.Second            // lag without progress after which the node reads the stream directly
	directTime  = checkEvery             // how long it reads directly at a time; then its other duties are due
	joinAfter   = 3 * time.Second        // lag without progress after which it asks for a checkpoint, if the stream has nothing for it
	idleEvery   = time.Second            // between two calls of Idle
	retryPause  = 500 * time.Millisecond // after a failure that can pass by itself
	warnBetween = 10 * time.Second       // between two log lines with the same text
	inSyncLSN   = 1000                   // commits that a node may lack and still be handed over to, or claim: it reads them within a moment
)

// errDiverged says that the store has applied commits that are not in the cluster's log.
var errDiverged = errors.New("replication: this node's data went another way than the cluster's")

// localError is a failure of the node's log, store or engine. It ends the node. All other errors concern NATS
// or the place in the stream, and the loop tries again after them.
type localError struct{ error }

func (e localError) Unwrap() error { return e.error }

// follow tails the log until this node has the lease, and returns the reason; "" if ctx has ended or the node
// has resigned.
//
// Each session begins at a place that is located anew, so nothing of an earlier session has to be right.
// errEarly and errMoved need another attempt only; errBehind and errDiverged say that the stream cannot bring
// this node to the cluster's log, so a checkpoint must.
func (n *Node) follow(ctx context.Context, ready func(role string)) (reason string, err error) {
	if err := n.receiveFresh(ctx); err != nil {
		return "", err
	}
	for ctx.Err() == nil && !n.resigned() {
		if n.discard.Load() {
			if err := n.bootstrap(ctx, errForeign); err != nil {
				return "", err
			}
			continue
		}
		reason, err = n.tailOnce(ctx, ready)
		failure := localError{}
		switch {
		case reason != "" || errors.As(err, &failure):
			return reason, err
		case errors.Is(err, errEarly) && ctx.Err() == nil:
			n.publishStatus(RoleJoining)
			n.warn("the stream does not reach this node's log yet; trying again", err)
			n.wait(ctx, retryPause)
		case errors.Is(err, errBehind), errors.Is(err, errDiverged):
			if err := n.bootstrap(ctx, err); err != nil {
				return "", err
			}
		case errors.Is(err, errMoved):
		case err != nil && ctx.Err() == nil:
			n.warn("the log cannot be followed; trying again", err)
			n.wait(ctx, retryPause)
		}
	}
	return "", nil
}

// tailOnce locates the place to read from, and tails the log from there.
func (n *Node) tailOnce(ctx context.Context, ready func(role string)) (string, error) {
	n.trimmer.reset()
	if err := n.writer.locate(ctx); err != nil {
		return "", err
	}
	_, end, err := n.stream.Bounds(ctx)
	if err != nil {
		return "", err
	}
	n.end = end
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	return n.newTailSession(n.consume(ctx), ready).run(ctx)
}

// newTailSession begins one session of tailing. A session that begins where the previous one did, or before, has
// made no progress.
func (n *Node) newTailSession(messages <-chan message, ready func(role string)) *tailSession {
	if n.progress == 0 {
		n.farthest = job.Position{}
	}
	n.reached(n.writer.at)
	return &tailSession{Node: n, messages: messages, ready: ready}
}

// reached records how far the node has come in the log. Judging a commit a second time is not progress.
func (n *Node) reached(at job.Position) {
	if at.LSN > n.farthest.LSN || n.progress == 0 {
		n.farthest, n.progress = at, n.opts.Boot()
	}
}

// tailSession is one session of tailing the log.
type tailSession struct {
	*Node
	messages  <-chan message
	ready     func(role string)
	idled     time.Duration // when it last called Idle
	levelled  time.Duration // when it was first level with the leader; 0: not yet
	leaseRead time.Duration // when it last read the lease
	direct    bool          // it reads the stream directly, and is not at its end yet
	calm      bool          // it was calm at the last look, so the next check is up to calmEvery away

	tick func(period time.Duration) // sets the time of the next check: the next whole period of the clock
}

// errMoved ends a session whose cursor was moved: the next session begins at the new place.
var errMoved = errors.New("replication: the place in the stream had to be found anew")

func (f *tailSession) run(ctx context.Context) (reason string, err error) {
	tick := time.NewTimer(f.untilFirst())
	defer tick.Stop()
	f.tick = func(period time.Duration) { tick.Reset(untilTick(period)) }
	for reason == "" && err == nil {
		select {
		case <-ctx.Done():
			return "", nil
		case <-f.stop:
			return "", nil
		case m := <-f.messages:
			err = f.judgeMessage(ctx, m)
		case l := <-f.lease:
			if err = f.readToLast(ctx, &l.value); err != nil {
				f.sawLease(l) // for the next session
				break
			}
			reason = f.hearsLease(ctx, l)
		case a := <-f.answers:
			f.hearsAnswer(ctx, a)
		case <-tick.C:
			reason, err = f.look(ctx)
		}
	}
	return reason, err
}

// rereadAfter is how long the watch of the lease may be silent until the lease is read. The watch can fall silent
// when the server that served it dies.
const rereadAfter = 2 * time.Second

// heard records the outcome of a question to the holder. It reads the lease if the watch was silent for long,
// or if the holder says that it no longer holds the lease.
func (f *tailSession) heard(ctx context.Context, a answer) {
	now := f.opts.Boot()
	if a.node != f.challenger.value.Node {
		return
	}
	f.challenger.heard(now, a.outcome)
	if f.challenger.value.Released || now-f.challenger.seen < rereadAfter && !a.ended || now-f.leaseRead < rereadAfter {
		return
	}
	f.leaseRead = now
	ctx, cancel := context.WithTimeout(ctx, askedAgain)
	defer cancel()
	f.refresh(ctx)
}

// judgeMessage judges one message, and accepts its frame if that is the next commit. A suspect ends the
// session, because step may have moved the cursor, and the messages in the channel follow the old place. If
// that goes on for joinAfter without progress, the stream has another log than this node, and a checkpoint is
// needed.
func (f *tailSession) judgeMessage(ctx context.Context, m message) error {
	frame, v, err := f.writer.step(ctx, m.seq, m.data)
	switch {
	case err != nil:
		return err
	case v == suspect && f.opts.Boot()-f.progress > joinAfter:
		return fmt.Errorf("%w: it ends at %v for this node, and goes on with %v", errBehind, f.farthest, frame.At)
	case v == suspect:
		return errMoved
	case v == accepted:
		f.reached(frame.At)
		f.trimmer.note(frame.At.LSN, m.seq, len(m.data))
		return f.accept(&frame)
	}
	return nil
}

// judgeDelivered judges what the consumer has delivered already.
func (f *tailSession) judgeDelivered(ctx context.Context) error {
	for range readAhead {
		select {
		case m := <-f.messages:
			if err := f.judgeMessage(ctx, m); err != nil {
				return err
			}
		default:
			return nil
		}
	}
	return nil
}

// check finds out when this node had all commits last, and compares it with the leader's beat. A standby that lags without
// progress reads the stream directly, a little at each check, until it is at the end, or until the consumer is ahead of it; if
// the stream has nothing for it either, check returns errBehind, and the node asks for a checkpoint.
func (f *tailSession) check(ctx context.Context) error {
	f.publishStatus(f.role())
	if f.opts.Boot()-f.idled >= idleEvery {
		f.idled = f.opts.Boot()
		f.local.Idle()
	}
	f.findLease(ctx)
	leader, ok := f.peers.leader(f.opts.Boot())
	now := f.opts.Boot()
	if !ok && f.writer.seq < f.end {
		return nil // no node leads, and this one still reads commits that it missed, or should
	}
	if at := f.hadAll(&leader, now); ok && at != 0 && now-at <= levelWithin {
		f.level(now, at)
	}
	// A commit that the stream has not confirmed is only on the leader's disk: no standby can have it.
	if !ok || leader.published() <= f.writer.at.LSN {
		f.progress, f.direct = now, false
		return nil
	}
	if leader.Unsure { // it may have to wait before it publishes what NATS has lost
		f.progress = max(f.progress, now-stuckAfter)
	}
	waited := now - f.progress
	if waited < stuckAfter && !f.direct {
		return nil
	}
	before := f.writer.at
	if err := f.judgeDelivered(ctx); err != nil {
		return err
	}
	if f.writer.at != before { // the consumer is ahead of what this node would read
		f.direct = false
		return nil
	}
	end, err := f.readDirectly(ctx)
	f.reached(f.writer.at)
	f.direct = !end
	switch {
	case err != nil:
		return err
	case f.writer.at == before && waited > joinAfter && (end || waited > joinLate):
		return fmt.Errorf("%w: the leader has published %d, the stream ends at %v for this node", errBehind, leader.published(), before)
	case f.writer.at != before && end:
		return errMoved // the next session tails from here
	}
	return nil
}

// role returns what this node says that it is. A node that lacks a part of the log, as the stream shows, is to receive a
// checkpoint: no leader may hand over to it.
func (f *tailSession) role() string {
	if f.writer.lacks() != nil {
		return RoleJoining
	}
	return RoleStandby
}

// joinLate is lag without progress after which the node asks for a checkpoint even if it could not read the stream to
// its end: the log grows faster than it reads, and nothing of what it has read continues its own log.
const joinLate = 10 * joinAfter

// readDirectly reads the stream without the consumer, for directTime or one message longer, and reports whether it
// has reached the end. The next check goes on, unless the consumer has delivered what comes next: each direct read waits for
// the stream, so over a slow link they may be slower than the log grows, for ever, while the consumer has all of it. It returns
// errMoved if the cursor was set back, because the consumer is beyond that place.
func (f *tailSession) readDirectly(ctx context.Context) (end bool, err error) {
	begun, from := f.opts.Boot(), f.writer.seq
	enough := func() bool { return f.opts.Boot()-begun >= directTime }
	for !end && err == nil && !enough() {
		end, err = f.writer.readOn(ctx, f.accept, enough)
	}
	if err == nil && f.writer.seq < from {
		err = errMoved
	}
	return end, err
}

// heirWait bounds how long a level node waits to become an heir before it reports ready: during an election the
// leader cannot name it. Without the bound, the start of a node would wait for NATS although the node can serve
// reads.
const heirWait = 5 * time.Second

// hadAll returns when this node had all commits, as far as it knows; 0: it does not know. The answers of the leader tell it, also
// while it never has the newest commit, because the link to it is slow; those of an older release do not, so its beat has to,
// although it may be late.
func (f *tailSession) hadAll(leader *peer, now time.Duration) time.Duration {
	if leader.Heads {
		return f.heads.reached(f.writer.at)
	}
	if leader.Unsure || leader.published() > f.writer.at.LSN {
		return 0
	}
	return now
}

// level notes that this node had all commits at an instant a moment ago, and reports it as ready when the leader may fail. Before
// the node is an heir, a failure would cost the length of a lease. Later that does not count: a leader does not name a node whose
// promises would come too late over a slow link, and what the node has is no older for it.
func (f *tailSession) level(now, at time.Duration) {
	if f.levelled == 0 {
		f.levelled = now
		f.complete.Store(true)
	}
	if f.stands = f.stands || f.challenger.inherits() || now-f.levelled >= heirWait; f.stands {
		f.levelUntil(at)
		f.ready(RoleStandby)
	}
}

// wait waits for a time, or until the node is to end.
func (n *Node) wait(ctx context.Context, d time.Duration) {
	select {
	case <-ctx.Done():
	case <-n.stop:
	case <-time.After(d):
	}
}
