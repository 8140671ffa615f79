package replication

import (
	"context"
	"errors"
	"fmt"
	"time"
)

// A leader that hands over names its successor in the lease, and its last commit. A successor that has exactly this
// commit needs nothing else of the stream, and nothing is launched until it leads. So it claims the lease and publishes
// the record of its epoch at the same time, and leads when it has both.
//
// A record without a claim does no harm. It stands behind the last commit of a leader that has stopped, or it is void: the
// stream refuses it, and each reader rejects it, if another leader has written there meanwhile. So no leader is deposed
// by it. The node that wrote it launches nothing, because it has no lease; it accepts its record like any other frame, and
// the next leader, whoever that is, begins the epoch after it. That is what a leader leaves that dies between its record and
// its first commit.

// succession is a claim of a lease that was given up for this node. The loop of Run owns it, except while claimBeside
// runs.
type succession struct {
	value    leaseValue    // to write
	known    leaseValue    // that it replaces
	revision uint64        // of the key that is replaced; once it is taken, of value
	begun    time.Duration // an instant before the claim was sent
	err      error         // of the claim
}

// errUntaken says that the record of an epoch is in the stream, or may be, and that this node does not have the lease.
var errUntaken = fmt.Errorf("%w: the lease that was given up could not be taken", ErrDeposed)

// errMisplaced says that the record of an epoch may stand behind another message than this node has judged.
var errMisplaced = fmt.Errorf("%w: the stream has changed before the record of the epoch", ErrDeposed)

// succeeds reports whether this node may claim the lease and begin its epoch at the same time: the lease was given up for
// it, and it has exactly the commits that the last leader had.
func (n *Node) succeeds() bool {
	l, w := &n.challenger.value, &n.writer
	if n.opts.Local || n.challenger.revision == 0 || !l.Released || l.To != n.opts.Node || l.Last == nil {
		return false
	}
	isLevel := w.at == l.Last.position() && w.at == n.local.Last() && w.at == n.local.Applied()
	return isLevel && w.isPlaced() && w.lacks() == nil
}

// lastTime bounds the wait for the last commit of a leader that has given the lease up. The lease names it, and is written after
// the commit is in the stream, so a consumer usually delivers the commit first. A node that still lacks it reads the stream
// once it has the lease.
const lastTime = 20 * time.Millisecond

// readToLast judges messages of the consumer until this node has the last commit of the leader that has given the lease up for
// it, for a short time.
func (f *tailSession) readToLast(ctx context.Context, l *leaseValue) error {
	if !l.Released || l.To != f.opts.Node || l.Last == nil {
		return nil
	}
	end := time.After(lastTime)
	for f.writer.at.LSN < l.Last.LSN {
		select {
		case m := <-f.messages:
			if err := f.judgeMessage(ctx, m); err != nil {
				return err
			}
		case <-end:
			return nil
		case <-ctx.Done():
			return nil
		}
	}
	return nil
}

// takeAndPlace claims the lease and places the record of the epoch, at the same time. Meanwhile it checks that the stream
// still has what this node has judged: [cursor.resume] does that before, where there is time. An error
// leaves the record in the stream, or not.
func (n *Node) takeAndPlace(ctx context.Context, t *succession, f *Frame) error {
	claimed := n.together(func() { n.claimBeside(ctx, t) })
	before := n.writer.unproven()
	n.writer.trail.count = 0
	var stands bool
	looked := n.together(func() { stands = n.writer.compare(ctx, before) == nil })
	err := n.writer.place(ctx, f)
	looked()
	claimed()
	if !n.settle(ctx, t) {
		return errUntaken
	}
	n.succession = nil
	if err == nil && !stands {
		err = errMisplaced
	}
	return err
}

// claimBeside claims the lease, while the loop of Run waits for the stream. The renewals begin at once: the stream may take
// longer than the grace.
func (n *Node) claimBeside(ctx context.Context, t *succession) {
	if n.sendClaim(ctx, t); t.err != nil {
		return
	}
	n.mu.Lock()
	n.term = t.value.Term // for the nodes that ask for the holder
	n.mu.Unlock()
	n.helps(ctx)
}

// sendClaim sends a claim, and begins the leadership if that succeeds.
func (n *Node) sendClaim(ctx context.Context, t *succession) {
	t.begun = n.opts.Boot()
	revision, err := n.register.claim(ctx, &t.value, t.known, t.revision)
	if t.err = err; err == nil {
		t.revision = revision
		n.begin(t.value, t.revision, t.begun)
	}
}

// settle notes the outcome of a claim, and reports whether this node has the lease. After a failure the node knows who has
// it instead.
func (n *Node) settle(ctx context.Context, t *succession) bool {
	if t.err == nil {
		n.challenger.saw(t.begun, t.revision, t.value)
		return true
	}
	if errors.Is(t.err, errLost) {
		n.challenger.promises.claimEnded()
	} else {
		// The claim may be stored all the same. It counts as under way until a newer revision is seen, see promises.
		n.warn("the lease cannot be taken; trying again", t.err)
	}
	n.refresh(ctx)
	return false
}

// together runs a function beside the caller, and returns what waits for its end.
func together(do func()) (wait func()) {
	done := make(chan struct{})
	go func() {
		defer close(done)
		do()
	}()
	return func() { <-done }
}
