package replication

import (
	"context"
	"fmt"

	"github.com/carillon-io/carillon/job"
)

// trail has the messages that a cursor has judged before the one at its place, since it was last proven that they follow one
// another: the newest ones.
//
// A reader that judges message s, and s+1 later, does not see that the stream has lost its end in between and grown again to
// s: the message s+1 can be a late one that continues what the reader knew, while other readers have the commits of the new
// message s before it. The imprint of s+1 does not show that, and that of s does. Reading each message a second time would
// find it at once. It is enough to do so before a node leads, and before it locates its place anew: the next message of a
// leader continues another commit, so it is a suspect. Each late message is a publication of
// another commit for which its leader waited in vain, so a run of them is shorter than the trail.
type trail struct {
	judged [reviewMessages - 1]judged // a ring
	count  int                        // of all that were added
}

// judged is a message that a cursor has judged.
type judged struct {
	seq uint64
	imprint
	applied job.Position // newest applied commit of the node before it judged the next message
}

func (t *trail) add(j judged) {
	t.judged[t.count%len(t.judged)] = j
	t.count++
}

// moveTo moves the cursor behind a message. What it has judged before is not its trail any more.
func (c *cursor) moveTo(seq uint64, s imprint) { c.seq, c.imprint, c.trail.count = seq, s, 0 }

// startAt moves the cursor before a message that stands there now. The message before that one is read when a publication needs
// its imprint.
func (c *cursor) startAt(seq uint64, s imprint) {
	c.moveTo(seq-1, unread)
	first := c.newest()
	first.seq, first.imprint = seq, s
	c.trail.add(first)
}

// follows moves the cursor behind the message that comes after its place.
func (c *cursor) follows(seq uint64, s imprint) {
	if c.seq > 0 && c.imprint != unread {
		c.trail.add(c.newest())
	}
	c.seq, c.imprint = seq, s
}

func (c *cursor) newest() judged {
	j := judged{seq: c.seq, imprint: c.imprint}
	if c.applied != nil {
		j.applied = c.applied()
	}
	return j
}

// unproven returns the trail and the message at the cursor's place; only that where NATS is known to keep what it has
// acknowledged.
func (c *cursor) unproven() (all []judged) {
	t := &c.trail
	for i := max(0, t.count-len(t.judged)); i < t.count && !c.keeps(); i++ {
		all = append(all, t.judged[i%len(t.judged)])
	}
	if c.seq > 0 && c.imprint != unread {
		all = append(all, c.newest())
	}
	return all
}

// keeps reports whether NATS is known to keep what it has acknowledged.
func (c *cursor) keeps() bool { return c.kept != nil && c.kept() }

// errRegrown says that the stream has lost its end, and has grown again, since the cursor has judged it.
var errRegrown = fmt.Errorf("%w: it has lost its end, and grown again", errWrongSequence)

// prove returns nil if the messages that the cursor has judged stand where they stood, and errRegrown if not. Then each of them
// stood already when the one after it was stored, because a stream loses messages at its end only: so the cursor has judged
// all that is before its place.
func (c *cursor) prove(ctx context.Context) error {
	err := c.compare(ctx, c.unproven())
	if err == nil {
		c.trail.count = 0
	}
	return err
}

// proveRead is prove for what has been judged since the last proof. It reads nothing if that is nothing, or if NATS is known to
// keep what it has acknowledged.
func (c *cursor) proveRead(ctx context.Context) error {
	if c.trail.count == 0 || c.keeps() {
		return nil
	}
	return c.prove(ctx)
}

// compare returns errRegrown if other messages stand in the places of those that were judged. One that is not there any more
// has left the stream at its front, unless it is the last. compare may be called beside other methods of the cursor.
func (c *cursor) compare(ctx context.Context, all []judged) error {
	found, err := c.found(ctx, all)
	for i, s := range found {
		if isLast := i == len(all)-1; s != all[i].imprint && (isLast || s != imprint{}) {
			return errRegrown
		}
	}
	return err
}

// found returns the imprints of the messages that stand now in the places of those that were judged. It asks the stream's
// leader, because another server may still have a message that the stream has lost.
func (c *cursor) found(ctx context.Context, all []judged) (found []imprint, err error) {
	for len(all) > 0 {
		first, n := all[0].seq, 1
		for n < len(all) && all[n].seq-first < rangeMost {
			n++
		}
		messages, err := c.stream.StoredRange(ctx, first, all[n-1].seq)
		if err != nil {
			return nil, err
		}
		for _, j := range all[:n] {
			s := imprint{}
			if m := messages[j.seq-first]; m != nil {
				s = imprintOf(m)
			}
			found = append(found, s)
		}
		all = all[n:]
	}
	return found, nil
}

// doubt says that a node has applied commits that it read behind a false place: they may be no part of the log. It ends with
// the next commit that the node applies, because that continues them. The zero value is no doubt.
type doubt struct {
	sure job.Position // newest commit that is part of the log for sure
	upTo job.Position // newest applied commit
}

// doubts examines the trail before it is given up: where a message stands that was judged, and not the one before it, the
// stream lost its end between the two. A leader has none about the commits of its own.
func (c *cursor) doubts(ctx context.Context) error {
	if _, isSo := c.doubted(); isSo || c.trail.count == 0 || c.keeps() || c.applied == nil || c.placing != (job.Position{}) {
		return nil
	}
	all := c.unproven()
	found, err := c.found(ctx, all)
	if err != nil {
		return err
	}
	stood := false
	for i := len(all) - 1; i >= 0; i-- {
		isSame := found[i] == all[i].imprint
		if stood && !isSame && found[i] != (imprint{}) {
			c.doubt = doubt{all[i].applied, c.applied()}
			break
		}
		stood = stood || isSame && found[i] != imprint{}
	}
	return nil
}

// doubted reports whether the node has applied commits that may be no part of the log, and after which one.
func (c *cursor) doubted() (after job.Position, isSo bool) {
	d := &c.doubt
	return d.sure, d.sure != d.upTo && c.applied != nil && c.applied() == d.upTo
}

// memory returns the newest commit of the node that is part of the log because the node has applied it.
func (c *cursor) memory() job.Position {
	if after, isSo := c.doubted(); isSo {
		return after
	}
	return c.applied()
}
