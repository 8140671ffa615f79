package scheduler

import (
	"time"

	"github.com/carillon-io/carillon/job"
)

// catchUp decides, by the job's policy, all its ticks from the cursor up to an edge, from which on they
// are on time: no engine led when they were due. What is not fired is recorded as skipped, in ranges;
// what is fired is owed, and paid at the engine's pace.
func (c *Core) catchUp(s slot, r *hotRow, p *profileEntry, edge job.Millis) {
	// A tick whose launch the jitter puts off is not missed before that.
	upto := edge - 1 - job.JitterOf(r.id, p.Jitter, 0, 0)
	last, ok := p.latest(r, r.cursor-1, upto)
	if !ok {
		last = r.cursor
	}
	owed, n := c.missedToFire(r, p, last)
	skippedTo := last
	if n > 0 {
		skippedTo = owed.From - 1
	}
	c.skipMissed(r, p, skippedTo)
	if n > 0 {
		r.runs += n
		c.owe(s, r, p, owed, n)
		if p.MaxRuns > 0 && r.runs >= p.MaxRuns {
			last = owed.Last // the job is complete with it: what comes after is not decided
		}
	}
	c.moveOn(r, p, last)
	c.noteLateEnd(r, last)
}

// noteLateEnd writes down when a job was completed, if that was long after its last tick: its retention counts from then,
// and by the next start the history may not go back to that tick.
func (c *Core) noteLateEnd(r *hotRow, last job.Millis) {
	if r.flags.Is(job.FlagCompleted) && last.Add(lateEnd) < c.now {
		c.out.Batch.PutNote(r.id, job.Note{At: c.now})
	}
}

// lateEnd is how long after its last tick a job is completed late: no history is shorter.
const lateEnd = 24 * time.Hour

// missedToFire returns which of the missed ticks the policy still fires, and how many they are: the
// newest, inside the catch-up window, and no more than the job may have.
func (c *Core) missedToFire(r *hotRow, p *profileEntry, last job.Millis) (owed job.Debt, n uint32) {
	most := uint32(0)
	switch p.Missed {
	case job.MissedFireOnce:
		most = 1
	case job.MissedBackfill:
		most = p.MaxCatchupRuns
	}
	from := max(r.cursor, c.now-p.CatchupWindow)
	if most == 0 || last < from {
		return owed, 0
	}
	owed.Last = last
	owed.From, n = p.newest(r, from, last, most, &c.ticks)
	if left := p.MaxRuns - min(r.runs, p.MaxRuns); p.MaxRuns > 0 && n > left {
		return oldest(p, owed, left)
	}
	return owed, n
}

// oldest cuts a range of ticks down to its first n.
func oldest(p *profileEntry, d job.Debt, n uint32) (job.Debt, uint32) {
	if n == 0 {
		return job.Debt{}, 0
	}
	d.Last = d.From
	count := uint32(1)
	for at, ok := p.following(d.Last); ok && count < n; at, ok = p.following(at) {
		d.Last = at
		count++
	}
	return d, count
}

// skipMissed records that the ticks of a job from its cursor up to an instant do not run, and why: it
// was paused, it is too long ago, or the policy wants it so.
func (c *Core) skipMissed(r *hotRow, p *profileEntry, upto job.Millis) {
	reason, from := job.ReasonMissed, r.cursor
	switch {
	case r.marks.is(markResumed):
		reason = job.ReasonPaused
	case p.Missed != job.MissedSkip:
		open := c.now - p.CatchupWindow
		c.skipRange(r, p, from, min(upto, open-1), job.ReasonWindow)
		from = max(from, open)
	}
	c.skipRange(r, p, from, upto, reason)
}

// skipRange records that the ticks of a job between two instants, both included, do not run.
func (c *Core) skipRange(r *hotRow, p *profileEntry, from, upto job.Millis, reason job.Reason) {
	until, ok := p.latest(r, max(from, r.cursor)-1, upto)
	if !ok {
		return
	}
	first := r.cursor
	if from > r.cursor {
		first, _ = p.next(r, from-1)
	}
	c.skip(r, first, until, reason)
}

// skip records that the ticks of a job from one to another do not run.
func (c *Core) skip(r *hotRow, first, until job.Millis, reason job.Reason) {
	run := job.Run{
		ID: job.RunID{Job: r.id, At: first}, Status: job.StatusSkipped, Reason: reason, FinishedAt: c.now,
	}
	if until != first {
		run.Until = until
	}
	r.noteTick(max(first, until))
	c.countSkip(reason)
	c.out.Batch.PutHistory(&run)
	c.announce(&run)
}
