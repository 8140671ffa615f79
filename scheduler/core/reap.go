package core

import (
	"time"

	"github.com/carillon-io/carillon/fair"
	"github.com/carillon-io/carillon/instant"
	"github.com/carillon-io/carillon/job"
	"github.com/carillon-io/carillon/wheel"
)

// A completed job is kept for its retention, and then deleted. The end of the retention is a timer on the wheel. When
// it comes due, the job waits in a line. A step hands over some jobs of the line at a time, in order, and the next
// ones only when these have been answered. So a herd of any size is deleted at the pace at which jobs can be read and
// deleted, and none is forgotten. The line is only in memory; a start rebuilds it from the rows.

const (
	// ReapBatch is how many jobs are handed over at a time, and how many one proposal deletes at most.
	ReapBatch = 256
	// ReapAgain is when a job is checked again that could not be deleted, for example because it has a live run. A
	// shorter time checks jobs in vain; a longer one keeps a job beyond its retention by so much.
	ReapAgain = 10 * time.Second
	// ReapBytesMax bounds the bytes that the deletions of one proposal add to a commit. It leaves most of the commit
	// to callers and ticks.
	ReapBytesMax = 128 << 10
	// reapChecksMax is how many entries of the line a step checks.
	reapChecksMax = 4 * ReapBatch
)

// markRetired marks a job that is in the line of those to be deleted, or was handed over from it.
const markRetired rowMarks = 1 << 7

// retirement holds the jobs that are to be deleted because their retention is over.
type retirement struct {
	line fair.FIFO[retired]
	jobs int // that have the mark
	// asked is the number of jobs handed over and not answered. It never exceeds ReapBatch, so the channel to the
	// reaper, which has that capacity, never blocks the loop.
	asked int
}

// retired is an entry of the line. It is void if its job has changed or is armed again.
type retired struct {
	seat    seat
	version uint32
}

// Reap names a job to be deleted, provided that it has not changed and is not in use. The version makes it
// conditional: a caller that changes the job while it is being judged keeps it.
type Reap struct {
	ID      job.ID
	Version uint32
	Keep    time.Duration  // after it was completed and its last run was over
	Led     instant.Millis // when this leadership began

	seat seat
}

// retire appends a completed job whose timer left the wheel to the line.
func (c *Core) retire(s seat, r *hotRow) {
	r.timer = 0
	if !r.marks.is(markRetired) {
		r.marks |= markRetired
		c.retirement.jobs++
	}
	c.retirement.line.Push(retired{s, r.version})
}

// isArmedAgain removes a job from the line, because it is armed again.
func (c *Core) isArmedAgain(r *hotRow) {
	if r.marks.is(markRetired) {
		r.marks &^= markRetired
		c.retirement.jobs--
	}
}

// isUsed keeps a job that was to be deleted, because a caller starts a run of it.
func (c *Core) isUsed(s seat, r *hotRow) {
	if r.marks.is(markRetired) {
		c.arm(s, r)
	}
}

func (c *Core) isRetired(e retired) bool {
	r := c.rows.row(e.seat)
	return r.marks.is(markRetired) && r.version == e.version
}

// askToReap hands over jobs to be deleted, unless enough are handed over already.
func (c *Core) askToReap() {
	w := &c.retirement
	for looks := 0; w.asked < ReapBatch && w.line.Len() > 0 && looks < reapChecksMax; looks++ {
		e := w.line.Pop()
		if !c.isRetired(e) {
			continue
		}
		r := c.rows.row(e.seat)
		if c.debts.has(r.id) { // it has runs to come
			c.armReap(e.seat, r, c.now.Add(ReapAgain))
			continue
		}
		w.asked++
		c.out.Reap = append(c.out.Reap, Reap{ID: r.id, Version: r.version, Keep: c.retention(r), Led: c.led, seat: e.seat})
	}
}

// dropVoidRetired removes the void entries of the line when there are many, as happens in a follower.
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

// armReap arms a completed job for a check of its retention at an instant. The timer is delayed by the lead, because
// the wheel is ahead of the time by the lead.
func (c *Core) armReap(s seat, r *hotRow, at instant.Millis) {
	c.isArmedAgain(r)
	c.setReaping(r, true)
	c.delist(r)
	to := wheel.Tick(at.Add(c.settings.Lead))
	if r.timer == 0 || !c.wheel.Rearm(r.timer, to) {
		r.timer = c.wheel.Arm(uint64(s), to)
	}
}

// armLoaded arms the job of a row that was read. The row does not say when the job was completed; it was not before
// its last tick. The reaper finds out the exact time from the history, and answers with the rest of the retention.
func (c *Core) armLoaded(s seat, r *hotRow) {
	if keep := c.retention(r); r.flags.Is(job.FlagCompleted) && !r.flags.Is(job.FlagFailed) && keep > 0 {
		c.armReap(s, r, max(r.cursor, r.last).Add(keep))
		return
	}
	c.arm(s, r)
}

// ReapJobs answers for the jobs that were handed over: each is deleted or kept for longer.
type ReapJobs struct {
	Handled
	Items []ReapItem
}

// ReapItem is the answer for one job that was handed over.
type ReapItem struct {
	Reap
	Tenant, Name string
	Hash         NameHash
	Before       []byte // the definition for the audit log
	Record       []byte // as in Delete
	Size         int    // of the encoded definition
	Labels       []job.LabelHash
	Until        instant.Millis // the job is kept until then; 0: it is deleted
	Gone         bool           // the job no longer exists
}

// Bytes implements [Proposal].
func (p *ReapJobs) Bytes() (n int) {
	for i := range p.Items {
		n += p.Items[i].Bytes()
	}
	return n
}

// Bytes returns an upper bound for what the answer writes.
func (i *ReapItem) Bytes() int {
	return proposalBytes/4 + 2*len(i.Tenant) + 2*len(i.Name) + len(i.Before) + len(i.Record) + labelRowsBytes(len(i.Labels), i.Name)
}

// reapJobs handles the answers for jobs that were handed over. Whatever the answers are, asked falls by their number,
// so that the line moves on.
func (c *Core) reapJobs(p *ReapJobs) {
	c.retirement.asked -= len(p.Items)
	for i := range p.Items {
		item := &p.Items[i]
		if item.Gone {
			continue
		}
		r := c.rows.row(item.seat)
		switch {
		case r.id != item.ID || r.version != item.Version || !r.marks.is(markRetired):
		case item.Until > 0 || c.debts.has(r.id):
			c.armReap(item.seat, r, max(item.Until, c.now.Add(time.Second)))
		default:
			c.reap(item.seat, r, item)
		}
	}
}

// reap deletes a job whose retention is over, if it is still as it was when it was handed over.
func (c *Core) reap(s seat, r *hotRow, item *ReapItem) {
	c.unit(item.Bytes() + c.debtBytes(r.id))
	c.forget(s, r, &Delete{Tenant: item.Tenant, Name: item.Name, Hash: item.Hash, Record: item.Record, Of: DefinitionSize{ID: r.id, Version: r.version, Bytes: item.Size, Labels: item.Labels}})
	c.audit(job.ActorEngine, job.ActionDelete, job.AuditEntry{Tenant: item.Tenant, Name: item.Name, Job: r.id, Before: item.Before})
	c.rows.release(s)
}
