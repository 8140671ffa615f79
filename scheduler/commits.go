package scheduler

import "github.com/carillon-io/carillon/job"

// A commit is one frame of the log, and a frame has a largest size. A step therefore writes units: changes
// that belong together and that one commit must hold whole, such as the end of a run or the decision of a
// tick. A unit that does not fit the commit being built begins the next one, so no step outgrows a commit, and
// most steps make one commit.
//
// Invariant: the state after each unit is one that the core may be loaded from. A crash between two commits of
// a step loses the newest units and nothing else; no reply and no launch of the step has left by then.
//
// Sizes come in twice. The size that unit is given decides where a commit ends, so that the numbers of commits
// that rows carry (fences, notices, audit entries) are those of the commit that holds them. Should a unit turn
// out to be larger than it said, it moves to the next commit all the same, and its numbers are one too small:
// they still only grow. Only a unit that is larger than a whole commit could not be written; the bounds of
// definitions and runs make such a unit impossible, and TestLargestUnits builds the largest of each kind.
//
// Shares bound what a step does in all: each of its parts (outcomes, proposals, decisions) goes on until its
// share is used up, and leaves the rest to the next step. A part that finds the step full may still use a
// share of its own, so no part starves.

// commitSlack is how much of a commit no unit takes: the meta row that seal adds fits there.
const commitSlack = 64

// unit begins a unit of about n bytes. It ends the unit before it.
func (c *Core) unit(n int) {
	c.endUnit()
	if b := &c.out.Batch; b.Len() > 0 && b.Size()+n > c.commitMax-commitSlack {
		c.seal()
	}
	c.unitAt = c.out.Batch.Mark()
}

// endUnit ends a unit. One that turned out too large for the commit moves to the next.
func (c *Core) endUnit() {
	b := &c.out.Batch
	if b.Size() <= c.commitMax-commitSlack || c.unitAt.IsStart() {
		return
	}
	c.misjudged++
	tail := c.out.spareBatch()
	b.MoveAfter(c.unitAt, tail)
	c.seal()
	*b, *tail = *tail, *b
	c.out.spare = append(c.out.spare, tail)
	c.unitAt = job.Mark{}
}

// seal ends the commit being built; the next unit begins another.
func (c *Core) seal() {
	c.keepNextID()
	c.out.seal()
	c.lsn++
	c.noticeSeq, c.auditSeq = 0, 0
	c.unitAt = job.Mark{}
}

// keepNextID writes down which id is given out next, if that changed since it was written last: in the commit
// that gives an id out, or in an earlier one.
func (c *Core) keepNextID() {
	if c.nextID != c.keptID {
		c.out.Batch.PutMeta(metaNextID, uint64(c.nextID))
		c.keptID = c.nextID
	}
}

// shareOfOutcomes lets the outcomes fill three quarters of a commit, together with the proposals.
func (c *Core) shareOfOutcomes(proposals []Proposal) {
	c.upto = c.commitMax * 3 / 4
	for _, p := range proposals {
		c.upto -= p.bytes()
	}
	c.upto = max(c.upto, c.commitMax/8)
}

// shareOfProposals lets the proposals write five eighths of a commit: what a step gathers, if each says its size.
func (c *Core) shareOfProposals() { c.upto = c.out.size() + c.commitMax*5/8 }

// shareOfDecisions lets the decisions fill seven eighths of a commit, or write one eighth more.
func (c *Core) shareOfDecisions() { c.upto = max(c.commitMax*7/8, c.out.size()+c.commitMax/8) }

// more tells whether the part of the step going on may begin another unit.
func (c *Core) more() bool { return c.out.size() < c.upto }

// size returns how many bytes the step has written.
func (o *Output) size() int { return o.sealedBytes + o.Batch.Size() }

// Commits calls fn for the batches of a step that have changes, in their order, each to be made durable and
// visible before the next. It stops at fn's first error and returns it.
func (o *Output) Commits(fn func(*job.Batch) error) error {
	for _, b := range o.Sealed {
		if err := fn(b); err != nil {
			return err
		}
	}
	if o.Batch.Len() == 0 {
		return nil
	}
	return fn(&o.Batch)
}

// seal puts the batch being built behind the sealed ones, and begins an empty one.
func (o *Output) seal() {
	o.sealedBytes += o.Batch.Size()
	b := o.spareBatch()
	*b, o.Batch = o.Batch, *b
	o.Sealed = append(o.Sealed, b)
}

// sparesMax bounds the batches that are kept for reuse.
const sparesMax = 4

// spareBatch returns an empty batch.
func (o *Output) spareBatch() *job.Batch {
	n := len(o.spare)
	if n == 0 {
		return new(job.Batch)
	}
	b := o.spare[n-1]
	o.spare = o.spare[:n-1]
	b.Reset()
	return b
}

// resetSealed takes the sealed batches back.
func (o *Output) resetSealed() {
	for _, b := range o.Sealed {
		if len(o.spare) < sparesMax {
			o.spare = append(o.spare, b)
		}
	}
	o.Sealed, o.sealedBytes = o.Sealed[:0], 0
}
