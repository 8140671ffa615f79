package replication

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"
)

// follow is [Node.follow].
func (n *simNode) follow() (reason string) {
	ctx := context.Background()
	if n.process != nil && n.local.Last().LSN == 0 && n.world.rng.IntN(2) == 0 { // [Node.receiveFresh]: the log is long
		n.bootstrap(errFresh)
	}
	for !n.ends {
		reason, err := n.tailOnce(ctx)
		failure := localError{}
		switch {
		case reason != "":
			return reason
		case errors.As(err, &failure):
			n.fail(err)
		case errors.Is(err, errEarly):
			n.node.publishStatus(RoleJoining)
			n.world.saw("the stream ends early", uint64(n.index))
			n.world.sleep(retryPause)
		case errors.Is(err, errBehind), errors.Is(err, errDiverged):
			n.bootstrap(err)
		case errors.Is(err, errMoved):
			n.world.saw("suspect looked into", uint64(n.index))
		case n.ends:
		default:
			n.world.sleep(retryPause)
		}
	}
	return ""
}

// fail records an error that ends a process. No such error is expected here.
func (n *simNode) fail(err error) {
	n.world.check.fail("failure", "%s ends itself: %v", n.name, err)
	n.world.give(n.world.task)
}

func (n *simNode) tailOnce(ctx context.Context) (string, error) {
	n.node.trimmer.reset()
	if err := n.node.writer.locate(ctx); err != nil {
		return "", err
	}
	_, end, err := n.node.writer.stream.Bounds(ctx)
	if err != nil {
		return "", err
	}
	n.node.end = end
	n.next = n.node.writer.seq + 1
	n.messages = make(chan message, readAhead)
	return n.run(ctx, n.node.newTailSession(n.messages, func(string) {}))
}

// consume acts as the consumer: it passes on the messages that have reached the server to which this node is
// connected.
func (n *simNode) consume() {
	s := n.world.stream
	for n.linked && !s.gone && n.world.now >= n.silentUntil && len(n.messages) < readAhead {
		n.next = max(n.next, s.before+1)
		if n.next > s.last() || s.messages[n.next-s.before-1].stored > n.world.now-n.lag {
			return
		}
		n.messages <- message{n.next, s.messages[n.next-s.before-1].data}
		n.next++
	}
}

// hearsConsumer judges what the consumer has delivered. While a check is overdue, because the one before took longer than the
// checks are apart, the loop has both to choose from each time, so it judges one message and checks then.
func (n *simNode) hearsConsumer(ctx context.Context, f *tailSession) error {
	isOverdue := n.boot() > n.looks+time.Millisecond
	for n.consume(); len(n.messages) > 0; n.consume() {
		if err := f.judgeMessage(ctx, <-n.messages); err != nil || isOverdue {
			return err
		}
	}
	return nil
}

// watch passes the states of the lease on that have reached this machine, until see returns that it needs no more.
func (n *simNode) watch(see func(leaseSeen) (enough bool)) {
	for len(n.node.lease) > 0 { // what a renewal has read
		if see(<-n.node.lease) {
			return
		}
	}
	if n.lease != nil {
		n.watchKeys(see)
		return
	}
	if state := n.world.lease.asOf(n.world.now - n.watchDelay - n.lag); n.linked && state.since > n.watched.since {
		n.watched = state
		see(leaseSeen{value: state.value, revision: state.revision})
	}
}

// bootstrap copies the leader's store.
func (n *simNode) bootstrap(cause error) {
	n.rejoined++
	n.world.saw("joined anew", uint64(n.index))
	n.unfit = n.world.now
	n.world.check.joinsAnew(n, cause)
	n.node.publishStatus(RoleJoining)
	n.world.sleep(n.world.between(100*time.Millisecond, 3*time.Second))
	leader, ok := n.node.peers.leader(n.boot())
	if !ok || leader.Node == n.name {
		n.world.sleep(retryPause)
		return
	}
	from := n.world.nodes[leader.Node[0]-'a']
	if !n.meets(from.machine) || !from.alive || from.still() {
		n.world.sleep(retryPause)
		return
	}
	n.node.progress = 0
	if n.node.bringsNothing(cause, from.local.applied) {
		n.world.saw("a checkpoint brings nothing", uint64(n.index), from.local.applied.LSN)
		n.world.sleep(retryPause)
		return
	}
	n.world.note("adopt", uint64(n.index), from.local.applied.LSN)
	n.local.notes = from.local.notes
	at := from.local.applied
	ancestors := ancestorsOf(from.local.Ancestors(at.LSN, n.world.plan.remembered()))
	_ = n.local.Adopt(at, ancestors.before(at.LSN), OldUnknown)
}

// lead is [Node.lead] without its hand-overs by Resign.
func (n *simNode) lead() {
	w := n.world
	w.saw("takes over: "+reasonOf(n.reason), uint64(n.index))
	ctx, end := context.WithCancel(context.Background())
	n.node.leadership.ctx, n.node.leadership.end = ctx, end
	n.leading, n.launches = true, true
	if n.endRenewals = nil; n.node.succession == nil {
		n.helps(ctx)
	} else {
		w.saw("claims beside its record", uint64(n.index))
	}
	err := n.node.open(ctx)
	if failure := (localError{}); errors.As(err, &failure) {
		n.fail(err)
	}
	if err == nil {
		w.saw("leads", uint64(n.index), n.local.Last().Epoch)
		w.check.began(n, n.local.Last().Epoch)
		n.node.awaiting.over = true
		n.node.publishStatus(RoleLeader)
		if n.process != nil {
			n.process.host.beatOnce()
		}
		clear(n.heardOf)
		n.serve(ctx)
	} else {
		w.saw("does not lead after all", uint64(n.index))
		n.launches = false
		n.node.giveBack()
	}
	end()
	n.leading, n.launches = false, false
	n.node.endTrust()
	n.node.learnsEnd()
	n.node.followsAnew()
	n.node.publishStatus(RoleStandby)
	if err := n.node.withdraw(); err != nil {
		n.fail(err)
	}
	if n.endRenewals != nil {
		n.endRenewals()
	}
}

// renewed lets the lease be renewed, and returns what waits for the end of that.
func (n *simNode) renewed(ctx context.Context) (end func()) {
	if n.process != nil {
		return n.process.renews(n.node)
	}
	n.helper = n.world.spawn(n.machine, &n.life, func() { n.renewAll(ctx) })
	return func() {
		for !n.helper.over {
			n.world.sleep(10 * time.Millisecond)
		}
	}
}

func (n *simNode) renewAll(ctx context.Context) {
	if n.world.plan.several {
		n.renewKeys(ctx)
		return
	}
	for {
		n.world.sleep(dueEvery)
		if ctx.Err() != nil {
			return
		}
		if !n.node.leadership.due(n.boot()) {
			continue
		}
		ends := n.boot() + n.node.leadership.left(n.boot())
		if err := n.node.renew(ctx); errors.Is(err, ErrDeposed) {
			n.world.saw("deposed by the lease", uint64(n.index))
			n.world.check.deposed(n, ends)
			n.node.leadership.end()
			return
		}
	}
}

// serve commits until the leadership ends, and attends to what the loop of a leader hears.
func (n *simNode) serve(ctx context.Context) {
	w := n.world
	n.node.wanted.begin()
	defer n.node.wanted.end()
	for due := w.now; ; {
		if due <= w.now {
			due = w.now + w.between(5*time.Millisecond, w.plan.commitEvery)
		}
		w.sleep(min(due-w.now, checkEvery))
		n.hearAsLeader()
		if ctx.Err() != nil {
			return
		}
		if due > w.now {
			if n.passesOn(ctx) {
				return
			}
			continue
		}
		if w.chance(w.plan.handOver) {
			to, _ := n.node.successor("")
			w.saw("hands over", uint64(n.index))
			n.launches = false
			n.node.giveUp(to)
			return
		}
		if n.passesOn(ctx) {
			return
		}
		err := n.commit(ctx, n.nextNote())
		switch {
		case err == nil:
		case errors.Is(err, ErrDeposed):
			w.saw("deposed by the log", uint64(n.index))
			if n.wasPaused {
				w.saw("deposed after a pause", uint64(n.index))
			}
			return
		case ctx.Err() != nil:
			return
		default:
			n.fail(err)
		}
		n.wasPaused = false
	}
}

// commit does what [Node.appendBoth] does, and what the engine does after it.
func (n *simNode) commit(ctx context.Context, note *Reader) error {
	w, prev := n.world, n.local.Last()
	n.operations++
	payload := fmt.Appendf(nil, "%s/%d/%d", n.name, prev.Epoch, n.operations)
	if note != nil {
		payload = noteOf(*note)
	}
	f := Frame{
		Cluster: testCluster, Author: n.node.author, At: testNext(prev, prev.Epoch, payload), Prev: prev.Hash, Payload: payload,
	}
	written, life := false, n.life
	write := func() {
		if life == n.life && !written {
			n.local.append(prev.Epoch, payload)
			written = true
		}
	}
	switch w.rng.IntN(3) {
	case 0:
		write()
		w.sleep(w.between(0, time.Millisecond))
	case 1:
		w.after(w.between(0, 5*time.Millisecond), write)
	}
	err := n.node.publish(ctx, &f)
	if !written {
		w.sleep(w.between(0, time.Millisecond))
	}
	write()
	if err != nil {
		return err
	}
	n.awaitCopy(ctx, f.At)
	if err := n.node.awaitSure(ctx); err != nil {
		return err
	}
	if w.chance(w.plan.stuck) {
		n.sticks()
	}
	n.world.check.acknowledged(n, f.At)
	n.world.check.writes(n)
	return n.local.Apply(f.At, payload)
}

// sticks keeps the loop of a leader from going on, as a disk that hangs does, while the rest of its process goes on. A server
// of NATS may be on that disk, and the others may lose the end of the stream; or somebody kills the process that hangs.
func (n *simNode) sticks() {
	w := n.world
	w.saw("the loop of a leader is stuck", uint64(n.index))
	d := w.between(time.Second, 20*time.Second)
	if w.plan.loss > 0 && w.rng.IntN(2) == 0 {
		w.after(w.between(0, d/4), w.loseTail)
	}
	if life := n.life; n.process == nil && w.rng.IntN(2) == 0 {
		w.after(d-time.Millisecond, func() {
			if n.life == life {
				n.crash(w.between(50*time.Millisecond, 20*time.Second))
			}
		})
	}
	w.sleep(d)
}

// reasonOf returns a reason without the name in it.
func reasonOf(reason string) string {
	for short, long := range map[string]string{
		"expired": "has not renewed", "silent": "no process answers", "still": "stands still", "released": "has given", "own": "this node's", "none": "no node holds",
	} {
		if strings.Contains(reason, long) {
			return short
		}
	}
	return "unknown"
}
