package core

import (
	"time"

	"github.com/carillon-io/carillon/instant"
	"github.com/carillon-io/carillon/job"
)

// catchUp decides, by the job's policy, all ticks from the cursor up to edge: they are missed, because no engine led
// when they were due. Ticks that are not fired are recorded as skipped, in ranges. Ticks that are fired become a debt,
// which is paid at the engine's pace. It records ranges, not ticks: a job that ticks each second and was paused for a
// month costs a few rows.
func (c *Core) catchUp(s seat, r *hotRow, p *profileEntry, edge instant.Millis) {
	last := c.lastBefore(r, p, edge)
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
			last = owed.Last // the job completes with it: later ticks are not decided
		}
	}
	c.moveOn(r, p, last)
	c.noteLateEnd(r, last)
}

// lastBefore returns the last tick of a job whose launch is due before edge. The tick at the cursor must be one.
func (c *Core) lastBefore(r *hotRow, p *profileEntry, edge instant.Millis) instant.Millis {
	last, _ := p.latest(r, r.cursor-1, edge-1)
	if last > r.cursor && last+c.jitterOf(r, p, last) >= edge {
		last, _ = p.latest(r, r.cursor-1, last-1) // jitter delays its launch at most until this tick
	}
	return max(last, r.cursor)
}

// noteLateEnd records when a job was completed, if that was long after its last tick. Its retention counts from then,
// and at the next start the history may no longer reach back to that tick.
func (c *Core) noteLateEnd(r *hotRow, last instant.Millis) {
	if r.flags.Is(job.FlagCompleted) && last.Add(lateEnd) < c.now {
		c.out.Batch.PutNote(r.id, job.Note{At: c.now})
	}
}

// lateEnd is how long after its last tick the completion of a job counts as late. No history is shorter.
const lateEnd = 24 * time.Hour

// missedToFire returns which missed ticks the policy still fires, and how many: the newest ones inside the catch-up
// window, at most as many as the job may still have.
func (c *Core) missedToFire(r *hotRow, p *profileEntry, last instant.Millis) (owed job.Debt, n uint32) {
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

// oldest returns the first n ticks of a range, and how many they are.
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

// skipMissed records that the ticks of a job from its cursor up to an instant are not run, with the reason: the job
// was paused, they are too old, or the policy skips them.
func (c *Core) skipMissed(r *hotRow, p *profileEntry, upto instant.Millis) {
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

// skipRange records that the ticks of a job from one instant up to another, both included, are not run.
func (c *Core) skipRange(r *hotRow, p *profileEntry, from, upto instant.Millis, reason job.Reason) {
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

// skip records that the ticks of a job from first to until are not run. A range counts as one skip and makes one
// notice, so that an outage does not flood the stream of events.
func (c *Core) skip(r *hotRow, first, until instant.Millis, reason job.Reason) {
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
