package scheduler

import "github.com/carillon-io/carillon/job"

// catchUp decides, by the job's policy, all its ticks from the cursor up to an instant: nobody was
// there when they were due. What is not fired is recorded as one skipped range.
func (c *Core) catchUp(s slot, r *hotRow, p *profileEntry, upto job.Millis) {
	last, ok := p.latest(r, r.cursor-1, upto)
	if !ok {
		last = r.cursor
	}
	fires := c.missedToFire(r, p, last)
	skippedTo := last
	if len(fires) > 0 {
		skippedTo = fires[len(fires)-1] - 1
	}
	c.skipRange(r, p, skippedTo)
	for i := len(fires) - 1; i >= 0; i-- {
		if p.MaxRuns == 0 || r.runs < p.MaxRuns {
			c.fire(s, r, fires[i], ModeWait)
		}
	}
	c.moveOn(r, p, last)
}

// missedToFire returns which missed ticks the policy still fires, newest first. None of them lies
// before the cursor or before the catch-up window.
func (c *Core) missedToFire(r *hotRow, p *profileEntry, last job.Millis) []job.Millis {
	most := 0
	switch p.Missed {
	case job.MissedFireOnce:
		most = 1
	case job.MissedBackfill:
		most = int(p.MaxCatchupRuns)
	}
	from := max(r.cursor, c.now-p.CatchupWindow)
	var fires []job.Millis
	for at, ok := last, true; ok && at >= from && len(fires) < most; {
		fires = append(fires, at)
		at, ok = p.latest(r, r.cursor-1, at-1)
	}
	return fires
}

// skipRange records that the ticks of a job from its cursor up to an instant were missed.
func (c *Core) skipRange(r *hotRow, p *profileEntry, upto job.Millis) {
	until, ok := p.latest(r, r.cursor-1, upto)
	if !ok {
		return
	}
	run := job.Run{
		ID: job.RunID{Job: r.id, At: r.cursor}, Status: job.StatusSkipped, Reason: job.ReasonMissed,
		FinishedAt: c.now,
	}
	if until != r.cursor {
		run.Until = until
	}
	r.last = r.cursor
	r.flags &^= job.FlagLastManual
	c.counts.Skipped++
	c.out.Batch.PutHistory(&run)
}
