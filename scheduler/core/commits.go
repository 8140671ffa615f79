package core

import "github.com/carillon-io/carillon/job"

// A commit is one frame of the log, and the size of a frame is limited. A step therefore writes units. A unit is a
// set of changes that must be in one commit together, such as the end of a run or the decision of a tick. A unit that
// does not fit into the commit being built begins the next one. So no step outgrows a commit, and most steps make one
// commit.
//
// Invariant: a core can be loaded from the state after each unit. A crash between two commits of a step loses the
// newest units and nothing else, because no reply and no launch of the step has left by then.
//
// Sizes are checked twice. The size given to unit decides where a commit ends, so that the numbers of commits in rows
// (fences, notices, audit entries) are those of the commit that holds them. A unit that turns out larger than
// announced still moves to the next commit; its numbers are then one too small, which is safe because they still only
// grow. A unit larger than a whole commit could not be written. The bounds of definitions and runs make this
// impossible, and TestLargestUnits builds the largest unit of each kind.
//
// Shares bound the work of a step. Each of its parts (outcomes, proposals, decisions) stops when its share is used up
// and leaves the rest to the next step. A part that finds the step full may still use a share of its own, so that no
// part starves.

// commitSlack is the space that units leave free in a commit for the meta rows that seal adds, beside the sums of
// tenants. Without it, a unit that fits exactly would leave no space for the id that it has used.
const commitSlack = 64

// unit begins a unit of about n bytes, and ends the unit before it.
func (c *Core) unit(n int) {
	c.endUnit()
	if b := &c.out.Batch; b.Len() > 0 && b.Size()+n+c.tenants.saving > c.commitMax-commitSlack-sumBytesMax {
		c.seal()
	}
	c.tenants.endCharges()
	c.unitAt = c.out.Batch.Mark()
}

// endUnit ends a unit. A unit that is too large for the commit moves to the next one.
func (c *Core) endUnit() {
	b := &c.out.Batch
	if b.Size()+c.tenants.saving <= c.commitMax-commitSlack || c.unitAt.IsStart() {
		return
	}
	c.misjudged++
	tail := c.out.spareBatch()
	b.MoveAfter(c.unitAt, tail)
	c.moveCharges(c.seal)
	*b, *tail = *tail, *b
	c.out.spare = append(c.out.spare, tail)
	c.unitAt = job.Mark{}
}

// seal ends the commit being built. The next unit begins another one.
func (c *Core) seal() {
	c.keepMarks()
	c.out.seal()
	c.lsn++
	c.noticeSeq, c.auditSeq = 0, 0
	c.unitAt = job.Mark{}
}

// keepMarks writes the next id and the version of the stored rows, if they have changed since they were last written.
// They are thus in the commit that uses the id or the version, or in an earlier one.
func (c *Core) keepMarks() {
	if c.numbers.next != c.keptID {
		c.out.Batch.PutMeta(MetaNextID, uint64(c.numbers.next))
		c.keptID = c.numbers.next
	}
	if v := c.out.Batch.RowsVersion(); v > c.rowsVersion {
		c.out.Batch.PutMeta(MetaRows, uint64(v))
		c.rowsVersion = v
	}
	c.writeSums()
}

// barrier writes the next id into the commit, even if it has not changed, so that the commit is not empty.
func (c *Core) barrier(p *Barrier) {
	if p.Writes {
		c.keptID = 0
	}
}

// shareOfOutcomes lets outcomes and proposals together fill three quarters of a commit. The proposals are in the step
// already and their callers wait, so their bytes are subtracted first; an eighth is left to outcomes in any case.
func (c *Core) shareOfOutcomes(proposals []Proposal) {
	c.upto = c.commitMax * 3 / 4
	for _, p := range proposals {
		c.upto -= p.Bytes()
	}
	c.upto = max(c.upto, c.commitMax/8)
}

// shareOfProposals lets proposals write five eighths of a commit. That is what a step gathers if each proposal states
// its size correctly.
func (c *Core) shareOfProposals() { c.upto = c.out.size() + c.commitMax*5/8 }

// shareOfDecisions lets decisions fill the commit to seven eighths, or write one further eighth.
func (c *Core) shareOfDecisions() { c.upto = max(c.commitMax*7/8, c.out.size()+c.commitMax/8) }

// more reports whether the current part of the step may begin another unit.
func (c *Core) more() bool { return c.out.size() < c.upto }

// size returns the number of bytes that the step has written.
func (o *Output) size() int { return o.sealedBytes + o.Batch.Size() }

// Commits calls fn for each batch of a step that has changes, in order. The caller must make each durable and visible
// before the next. Commits stops at the first error of fn and returns it.
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

// seal appends the batch being built to the sealed ones, and begins an empty one.
func (o *Output) seal() {
	o.sealedBytes += o.Batch.Size()
	b := o.spareBatch()
	*b, o.Batch = o.Batch, *b
	o.Sealed = append(o.Sealed, b)
}

// sparesMax bounds the batches that are kept for reuse. A larger number would keep the memory of a burst.
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

// resetSealed reclaims the sealed batches for reuse.
func (o *Output) resetSealed() {
	for _, b := range o.Sealed {
		if len(o.spare) < sparesMax {
			o.spare = append(o.spare, b)
		}
	}
	o.Sealed, o.sealedBytes = o.Sealed[:0], 0
}
