package scheduler

import "github.com/carillon-io/carillon/job"

// remove forgets a job. Runs that still wait on the pad end with it; attempts that are with their
// targets end by themselves and are recorded.
func (c *Core) remove(p *Delete) {
	s, r := c.find(p.Hash)
	if r == nil || p.IfVersion != nil && *p.IfVersion != r.version {
		p.Err = errUnknownJob(p.Name)
		c.relaunch(p.Withdrawn)
		return
	}
	id := r.id
	c.disarm(r)
	c.dropProfile(r)
	c.names.remove(p.Hash)
	c.rows.release(s)
	c.out.Batch.DeleteName(p.Tenant, p.Name)
	for _, kind := range []job.Kind{job.KindJob, job.KindTimer, job.KindNote} {
		c.out.Batch.DeleteJobRow(kind, id)
	}
	for _, l := range p.Withdrawn {
		c.abandon(l, job.ReasonDeleted)
	}
}

func errUnknownJob(name string) error {
	return job.Errorf(job.CodeNotFound, "name", "there is no job %q", name)
}

// pause stops the ticks of a job, or lets them go on. The cursor stays where it is; what passed
// meanwhile is decided at the resume, by the job's policy for missed runs.
func (c *Core) pause(p *Pause) {
	s, r := c.find(p.Hash)
	if r == nil {
		p.Err = errUnknownJob(p.Name)
		return
	}
	if r.flags.Is(job.FlagPaused) == !p.Resume {
		c.relaunch(p.Withdrawn)
		return
	}
	r.flags ^= job.FlagPaused
	if p.Resume {
		c.relaunch(p.Withdrawn)
		p.Withdrawn = nil
		r.flags &^= job.FlagFailed
	}
	r.version++
	c.arm(s, r)
	c.writeTimer(r)
	c.out.Batch.PutNote(r.id, job.Note{At: c.now, Reason: p.Reason})
	for _, l := range p.Withdrawn {
		c.withdraw(l)
	}
}

// withdraw settles a launch that a pause took off the pad: a tick of the schedule that did not begin
// ends as skipped; a manual run and a further attempt of a run that began go on.
func (c *Core) withdraw(l Launch) {
	if l.Run.IsManual() || l.Attempt > 1 {
		c.out.Launches = append(c.out.Launches, l)
		return
	}
	c.abandon(l, job.ReasonPaused)
}

// abandon ends a live run that is not with a target: as skipped if it never was, else as cancelled.
func (c *Core) abandon(l Launch, reason job.Reason) {
	run := c.finalRun(l.Run, job.StatusSkipped)
	if l.Attempt > 1 {
		run.Status = job.StatusCancelled
	}
	run.Reason = reason
	c.ahead.add(l.Run, c.now)
	c.finish(run)
}

// relaunch puts launches back that were taken off the pad for a proposal without effect.
func (c *Core) relaunch(l []Launch) { c.out.Launches = append(c.out.Launches, l...) }
