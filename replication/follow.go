package replication

import (
	"context"
	"errors"
	"fmt"
	"time"
)

// The times of a follower.
const (
	lookEvery   = 50 * time.Millisecond // between two looks at the lease and at the others
	stuckAfter  = time.Second           // without progress behind the leader: the end of the stream is read directly
	joinAfter   = 3 * time.Second       // and with nothing there either: a checkpoint is asked for
	idleEvery   = time.Second
	retryPause  = 500 * time.Millisecond
	warnBetween = 10 * time.Second
	inSyncLSN   = 1000 // commits behind the leader that still count as level
)

// errDiverged says that the store has applied what the log of the cluster does not have.
var errDiverged = errors.New("replication: this node's data went another way than the cluster's")

// localError is a failure of the node itself, which ends it.
type localError struct{ error }

func (e localError) Unwrap() error { return e.error }

// follow tails the log until this node may lead, and returns why; "" when ctx has ended or the node has
// resigned.
func (n *Node) follow(ctx context.Context, ready func(role string)) (reason string, err error) {
	for ctx.Err() == nil && !n.resigned() {
		reason, err = n.tailOnce(ctx, ready)
		failure := localError{}
		switch {
		case reason != "" || errors.As(err, &failure):
			return reason, err
		case errors.Is(err, errBehind), errors.Is(err, errDiverged):
			if err := n.bootstrap(ctx, err); err != nil {
				return "", err
			}
		case errors.Is(err, errMoved):
		case err != nil && ctx.Err() == nil:
			n.warn("the log cannot be followed; trying again", err)
			n.rest(ctx, retryPause)
		}
	}
	return "", nil
}

// tailOnce finds the place to read from and tails the log from there.
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
	return n.following(n.consume(ctx), ready).run(ctx)
}

// following begins a stretch of tailing. One that begins where the last one did has made no progress.
func (n *Node) following(messages <-chan message, ready func(role string)) *following {
	if n.writer.at != n.place || n.progress == 0 {
		n.place, n.progress = n.writer.at, n.opts.Boot()
	}
	return &following{Node: n, messages: messages, ready: ready}
}

// following is one stretch of tailing.
type following struct {
	*Node
	messages <-chan message
	ready    func(role string)
	idled    time.Duration // when Idle was called last
}

// errMoved ends a stretch whose cursor was set elsewhere: the next begins there.
var errMoved = errors.New("replication: the place in the stream had to be found anew")

func (f *following) run(ctx context.Context) (string, error) {
	tick := time.NewTicker(lookEvery)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return "", nil
		case <-f.stop:
			return "", nil
		case m := <-f.messages:
			if err := f.takeMessage(ctx, m); err != nil {
				return "", err
			}
		case l := <-f.lease:
			f.sawLease(l)
			if l.value.Released && f.opening() != "" && f.claim(ctx) {
				return "the lease was given up", nil
			}
		case a := <-f.answers:
			f.rival.heard(f.opts.Boot(), a.nobody && a.node == f.rival.value.Node)
		case <-tick.C:
			if err := f.look(ctx); err != nil {
				return "", err
			}
			if reason := f.opening(); reason != "" && f.claim(ctx) {
				return reason, nil
			}
		}
	}
}

func (f *following) takeMessage(ctx context.Context, m message) error {
	frame, v, err := f.writer.step(ctx, m.seq, m.data)
	switch {
	case err != nil:
		return err
	case v == suspect && f.opts.Boot()-f.progress > joinAfter:
		return fmt.Errorf("%w: it ends at %v for this node, and goes on with %v", errBehind, f.place, frame.At)
	case v == suspect:
		return errMoved
	case v == accepted:
		f.place, f.progress = frame.At, f.opts.Boot()
		f.trimmer.note(frame.At.LSN, m.seq, len(m.data))
		return f.take(&frame)
	}
	return nil
}

// look compares this node with what the leader tells. Who is behind and gets nothing reads the stream
// itself, and who finds nothing there asks for a checkpoint.
func (f *following) look(ctx context.Context) error {
	f.publishStatus(RoleStandby)
	if f.opts.Boot()-f.idled >= idleEvery {
		f.idled = f.opts.Boot()
		f.local.Idle()
	}
	leader, ok := f.peers.leader(f.opts.Boot())
	now := f.opts.Boot()
	if !ok && f.writer.seq < f.end {
		return nil // nobody leads, and it is reading what it missed, or should be
	}
	if !ok || leader.LSN <= f.writer.at.LSN {
		f.progress = now
		if ok {
			f.ready(RoleStandby)
		}
		return nil
	}
	waited := now - f.progress
	if waited < stuckAfter {
		return nil
	}
	before := f.writer.at
	err := f.writer.catchUp(ctx, f.take)
	if f.writer.at != before {
		f.progress = f.opts.Boot()
	}
	if err == nil && f.writer.at == before && waited > joinAfter {
		return fmt.Errorf("%w: the leader is at %d, the stream ends at %v for this node", errBehind, leader.LSN, before)
	}
	if err == nil && f.writer.at != before {
		return errMoved // the tail is to go on from here
	}
	return err
}

// opening says why this node may try to lead; "" if it may not. One that knows to be behind never may.
func (f *following) opening() string {
	now := f.opts.Boot()
	if f.writer.seq < f.end && now-f.progress <= stuckAfter {
		return "" // it is reading what it missed
	}
	if leader, ok := f.peers.leader(now); ok && leader.LSN > f.writer.at.LSN+inSyncLSN && now-f.progress > stuckAfter {
		return ""
	}
	if f.writer.lacks() != nil {
		return ""
	}
	return f.rival.opening(now)
}

// take makes an accepted frame this node's: durable in its log, applied to its store. What its log has
// in the frame's place is no part of the cluster's log, and gives way.
func (n *Node) take(f *Frame) error {
	found, ok := n.local.Find(f.At.LSN)
	switch last := n.local.Last(); {
	case ok && found == f.At:
	case f.At.LSN <= n.local.Applied().LSN:
		return fmt.Errorf("%w: it has applied %v, and the cluster %v", errDiverged, found, f.At)
	default:
		if f.At.LSN <= last.LSN {
			keep, _ := n.local.Find(f.At.LSN - 1)
			if err := n.local.Cut(keep); err != nil {
				return localError{err}
			}
		}
		at, err := n.local.Append(f.At.Epoch, f.Payload)
		if err == nil && at != f.At {
			err = fmt.Errorf("replication: the log has made %v of the frame %v", at, f.At)
		}
		if err != nil {
			return localError{err}
		}
	}
	if f.At.LSN > n.local.Applied().LSN {
		if err := n.applyTo(f.At.LSN - 1); err != nil {
			return err
		}
		if err := n.local.Apply(f.At, f.Payload); err != nil {
			return localError{err}
		}
	}
	n.peers.tookFrom(f.Time)
	return nil
}

// applyTo applies the commits of the node's own log up to one, which are part of the cluster's.
func (n *Node) applyTo(lsn uint64) error {
	for n.local.Applied().LSN < lsn {
		at, _, payload, ok, err := n.local.Read(n.local.Applied().LSN + 1)
		if err == nil && !ok {
			err = fmt.Errorf("replication: the log does not have commit %d", n.local.Applied().LSN+1)
		}
		if err == nil {
			err = n.local.Apply(at, payload)
		}
		if err != nil {
			return localError{err}
		}
	}
	return nil
}

// rest waits.
func (n *Node) rest(ctx context.Context, d time.Duration) {
	select {
	case <-ctx.Done():
	case <-n.stop:
	case <-time.After(d):
	}
}
