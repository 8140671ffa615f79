package scheduler

import "github.com/carillon-io/carillon/job"

// trigger starts a manual run now. The same idempotency key is the same run.
func (c *Core) trigger(p *Trigger) {
	s, r := c.find(p.Hash)
	if r == nil {
		p.Err = errUnknownJob(p.Name)
		return
	}
	if p.Key != "" {
		if id, ok := c.onces.find(r.id, p.Key); ok {
			p.Run = job.Run{ID: id}
			return
		}
		if !c.onces.covers(p.AsOf) {
			p.Err = errStale
			return
		}
	}
	run := c.manualRun(s, r, c.now)
	run.HasPayload = p.HasPayload
	c.start(s, &run, ModeWait)
	if p.HasPayload {
		c.out.Batch.PutPayload(run.ID, p.Payload, p.PayloadJSON)
	}
	if p.Key != "" {
		c.onces.add(c.lsn, run.ID, p.Key)
		c.out.Batch.PutOnce(job.Day(c.now), p.Key, run.ID)
	}
	c.writeTimer(r)
	p.Run = run
}

// backfill starts a manual run for each of some ticks.
func (c *Core) backfill(p *Backfill) {
	s, r := c.find(p.Hash)
	if r == nil {
		p.Err = errUnknownJob(p.Name)
		return
	}
	if len(p.At) == 0 {
		return
	}
	for _, at := range p.At {
		run := c.manualRun(s, r, at)
		c.start(s, &run, ModeWait)
	}
	c.writeTimer(r)
}

// manualRun numbers a manual run of a job.
func (c *Core) manualRun(s slot, r *hotRow, at job.Millis) job.Run {
	r.manual++
	r.last = at
	r.flags |= job.FlagLastManual
	return job.Run{ID: job.RunID{Job: r.id, At: at, Seq: r.manual}, Due: c.now}
}

// start makes a run live and asks for its first attempt.
func (c *Core) start(s slot, run *job.Run, mode Mode) {
	run.Status, run.Attempt, run.Fence = job.StatusPending, 1, c.lsn
	r := c.rows.row(s)
	waits := c.profiles.get(r.profile).Overlap == job.OverlapSkip
	if !waits {
		mode = ModeFree
	}
	c.live[run.ID] = liveRun{slot: s, attempt: 1, fence: c.lsn, payload: run.HasPayload, waits: waits}
	c.room--
	c.out.Batch.PutRun(run)
	c.out.Launches = append(c.out.Launches, Launch{
		Run: run.ID, Due: run.Due, Fence: run.Fence, Attempt: 1, Mode: mode, HasPayload: run.HasPayload,
		Tenant: r.tenant,
	})
}
