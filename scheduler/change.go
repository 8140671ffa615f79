package scheduler

import "github.com/carillon-io/carillon/job"

// remove forgets a job. Runs that still wait on the pad end with it; attempts that are with their
// targets end by themselves and are recorded.
func (c *Core) remove(p *Delete) {
	s, r := c.find(p.Hash)
	if p.Err = checkPresent(r, p.Name, p.IfVersion); p.Err != nil {
		c.relaunch(p.Withdrawn)
		return
	}
	c.doomed.tenant, c.doomed.name = p.Tenant, p.Name
	for _, l := range p.Withdrawn {
		c.abandon(l, job.ReasonDeleted)
	}
	c.endReporting(p)
	c.doomed.tenant, c.doomed.name = "", ""
	c.forget(s, r, p)
	c.audit(p.Actor, job.ActionDelete, job.AuditEntry{Tenant: p.Tenant, Name: p.Name, Job: r.id, Before: p.Before})
	c.rows.release(s)
}

// endReporting ends the runs of a job that wait for a report, and counts what becomes of its runs.
func (c *Core) endReporting(p *Delete) {
	p.Result = DeleteResult{Cancelled: len(p.Withdrawn)}
	for _, id := range p.Live {
		live, ok := c.live[id]
		switch {
		case ok && live.watch != 0:
			c.cancelLive(id, job.ReasonDeleted)
			p.Result.Cancelled++
		case ok:
			p.Result.Running++
		}
	}
}

// forget drops everything that is kept of a job but its history.
func (c *Core) forget(s slot, r *hotRow, p *Delete) {
	id := r.id
	c.disarm(r)
	c.dropDebt(id)
	c.endStreak(id)
	c.dropProfile(r)
	c.names.remove(p.Hash)
	c.out.Batch.DeleteName(p.Tenant, p.Name)
	for _, kind := range []job.Kind{job.KindJob, job.KindTimer, job.KindNote} {
		c.out.Batch.DeleteJobRow(kind, id)
	}
}

// checkPresent refuses a change of a job that is not there, or that is not at the version that is demanded;
// nil demands none.
func checkPresent(r *hotRow, name string, ifVersion *uint32) error {
	switch {
	case r == nil:
		return errUnknownJob(name)
	case ifVersion != nil && *ifVersion != r.version:
		return errOtherVersion(r, name, *ifVersion)
	}
	return nil
}

func errOtherVersion(r *hotRow, name string, want uint32) error {
	return job.Errorf(job.CodeVersionConflict, "if_version", "job %q is at version %d, not %d; read it again", name, r.version, want)
}

func errUnknownJob(name string) error {
	return job.Errorf(job.CodeNotFound, "name", "there is no job %q", name)
}

// pause stops the ticks of a job, or lets them go on. The cursor stays where it is; what passed
// meanwhile is decided at the resume, by the job's policy for missed runs.
func (c *Core) pause(p *Pause) {
	s, r := c.find(p.Hash)
	if p.Err = checkPresent(r, p.Name, p.IfVersion); p.Err != nil {
		c.relaunch(p.Withdrawn)
		return
	}
	if r.flags.Is(job.FlagPaused) == !p.Resume || p.IfFailing && !c.isFailing(r) {
		c.relaunch(p.Withdrawn)
		return
	}
	action := job.ActionPause
	r.flags ^= job.FlagPaused
	if p.Resume {
		action = job.ActionResume
		c.relaunch(p.Withdrawn)
		p.Withdrawn = nil
		r.flags &^= job.FlagFailed
		r.resume(c.now)
		c.endStreak(r.id)
	} else {
		c.skipDebt(r, job.ReasonPaused)
	}
	r.version++
	c.arm(s, r)
	c.writeTimer(r)
	c.out.Batch.PutNote(r.id, job.Note{At: c.now, Reason: p.Reason, By: p.Actor.By})
	for _, l := range p.Withdrawn {
		c.withdraw(l)
	}
	c.audit(p.Actor, action, job.AuditEntry{Tenant: p.Tenant, Name: p.Name, Job: r.id, Detail: p.Reason})
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

// abandon ends the run of a launch that was taken off the pad.
func (c *Core) abandon(l Launch, reason job.Reason) {
	c.ahead.add(l.Run, c.now)
	c.skipLive(l.Run, l.Attempt, reason)
}

// relaunch puts launches back that were taken off the pad for a proposal without effect.
func (c *Core) relaunch(l []Launch) { c.out.Launches = append(c.out.Launches, l...) }
