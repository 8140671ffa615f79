package scheduler

import (
	"time"

	"github.com/carillon-io/carillon/fair"
	"github.com/carillon-io/carillon/job"
	"github.com/carillon-io/carillon/wheel"
)

// A completed job is kept for a retention and deleted then. Its end is a timer on the wheel. What comes off waits
// in a line, in order, from which a step hands over some at a time, as the deletion of the ones before is
// answered: so a herd of any size is cleared at the pace at which jobs can be read and deleted, and none is
// forgotten. The line is memory only. A start finds out from the rows what belongs into it.

const (
	// reapBatch is how many jobs are handed over at a time, and deleted by one proposal at most.
	reapBatch = 256
	// reapAgain is when a job is looked at again that could not be deleted, because it has a run that is not
	// over, say.
	reapAgain = 10 * time.Second
	// reapBytesMax is how much the deletions of one proposal may take of a commit.
	reapBytesMax = 128 << 10
	// reapLooks is how many entries of the line a step looks at.
	reapLooks = 4 * reapBatch
)

// markRetired says that a job is in the line of those to be deleted, or handed over from it.
const markRetired rowMarks = 1 << 7

// retirement is what is to be deleted because its time is over.
type retirement struct {
	line  fair.FIFO[retired]
	jobs  int // that have the mark
	asked int // handed over, and not answered
}

// retired is a job in the line. It is void if the job has changed, or is armed again.
type retired struct {
	slot    slot
	version uint32
}

// Reap names a job to be deleted if it is still as it was, and may be.
type Reap struct {
	ID      job.ID
	Version uint32
	Keep    time.Duration // after it was completed and its last run was over
	Led     job.Millis    // when the engine began to lead

	slot slot
}

// retire puts a completed job whose timer came off the wheel at the end of the line.
func (c *Core) retire(s slot, r *hotRow) {
	r.timer = 0
	if !r.marks.is(markRetired) {
		r.marks |= markRetired
		c.retirement.jobs++
	}
	c.retirement.line.Push(retired{s, r.version})
}

// isArmedAgain takes a job out of the line.
func (c *Core) isArmedAgain(r *hotRow) {
	if r.marks.is(markRetired) {
		r.marks &^= markRetired
		c.retirement.jobs--
	}
}

// isUsed keeps a job that was to be deleted, because a caller starts a run of it.
func (c *Core) isUsed(s slot, r *hotRow) {
	if r.marks.is(markRetired) {
		c.arm(s, r)
	}
}

func (c *Core) isRetired(e retired) bool {
	r := c.rows.row(e.slot)
	return r.marks.is(markRetired) && r.version == e.version
}

// askToReap hands over jobs to be deleted, unless enough are.
func (c *Core) askToReap() {
	w := &c.retirement
	for looks := 0; w.asked < reapBatch && w.line.Len() > 0 && looks < reapLooks; looks++ {
		e := w.line.Pop()
		if !c.isRetired(e) {
			continue
		}
		r := c.rows.row(e.slot)
		if c.debts.has(r.id) { // it has runs to come
			c.armReap(e.slot, r, c.now.Add(reapAgain))
			continue
		}
		w.asked++
		c.out.Reap = append(c.out.Reap, Reap{ID: r.id, Version: r.version, Keep: c.retention(r), Led: c.led, slot: e.slot})
	}
}

// dropVoidRetired drops the void entries of the line when they are many, as they become in a follower.
func (c *Core) dropVoidRetired() {
	w := &c.retirement
	if w.line.Len() <= 2*w.jobs+backlogVoidMax {
		return
	}
	for range w.line.Len() {
		if e := w.line.Pop(); c.isRetired(e) {
			w.line.Push(e)
		}
	}
}

// armReap lets a completed job be looked at at an instant, and not before its retention is over as far as the
// wheel is concerned, which is ahead by the lead.
func (c *Core) armReap(s slot, r *hotRow, at job.Millis) {
	c.isArmedAgain(r)
	c.setReaping(r, true)
	c.delist(r)
	to := wheel.Tick(at.Add(c.settings.Lead))
	if r.timer == 0 || !c.wheel.Rearm(r.timer, to) {
		r.timer = c.wheel.Arm(uint64(s), to)
	}
}

// armLoaded arms the job of a row that was read. When a job was completed is not in it; that its retention ended
// not before its last tick is.
func (c *Core) armLoaded(s slot, r *hotRow) {
	if keep := c.retention(r); r.flags.Is(job.FlagCompleted) && !r.flags.Is(job.FlagFailed) && keep > 0 {
		c.armReap(s, r, max(r.cursor, r.last).Add(keep))
		return
	}
	c.arm(s, r)
}

// ReapJobs answers for jobs that were handed over: it deletes them, or puts them off.
type ReapJobs struct {
	settled
	Items []ReapItem
}

// ReapItem is what becomes of one of them.
type ReapItem struct {
	Reap
	Tenant, Name string
	Hash         nameHash
	Before       []byte     // the definition for the audit log
	Until        job.Millis // the job is kept until then; 0: it is deleted
	Gone         bool       // there is no such job any more
}

func (p *ReapJobs) bytes() (n int) {
	for i := range p.Items {
		n += p.Items[i].bytes()
	}
	return n
}

func (i *ReapItem) bytes() int {
	return proposalBytes/4 + 2*len(i.Tenant) + 2*len(i.Name) + len(i.Before)
}

// reapJobs settles what becomes of jobs that were handed over.
func (c *Core) reapJobs(p *ReapJobs) {
	c.retirement.asked -= len(p.Items)
	for i := range p.Items {
		item := &p.Items[i]
		if item.Gone {
			continue
		}
		r := c.rows.row(item.slot)
		switch {
		case r.id != item.ID || r.version != item.Version || !r.marks.is(markRetired):
		case item.Until > 0 || c.debts.has(r.id):
			c.armReap(item.slot, r, max(item.Until, c.now.Add(time.Second)))
		default:
			c.reap(item.slot, r, item)
		}
	}
}

// reap deletes a job whose retention is over.
func (c *Core) reap(s slot, r *hotRow, item *ReapItem) {
	c.unit(item.bytes() + c.debtBytes(r.id))
	c.forget(s, r, &Delete{Tenant: item.Tenant, Name: item.Name, Hash: item.Hash})
	c.audit(job.ActorEngine, job.ActionDelete, job.AuditEntry{Tenant: item.Tenant, Name: item.Name, Job: r.id, Before: item.Before})
	c.rows.release(s)
}
