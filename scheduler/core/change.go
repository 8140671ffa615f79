package core

import (
	"slices"

	"github.com/carillon-io/carillon/apierr"
	"github.com/carillon-io/carillon/job"
	"github.com/carillon-io/carillon/scheduler/pad"
)

// remove deletes a job. Runs that wait on the pad end with it. Attempts that are with their targets end by themselves
// and are recorded.
//
// The runs end first, each in its own unit. If there are many, the rest ends in the next steps, and the job exists
// until all have ended. After a crash in between, the job is still there with fewer runs, and its caller has no
// answer.
func (c *Core) remove(p *Delete) (handled bool) {
	s, r := c.find(p.Hash)
	if p.Err == nil { // otherwise the loop could not read its size
		p.Err = checkPresent(r, p.Name, p.IfVersion)
	}
	if p.Err != nil {
		c.putBack(p)
		return true
	}
	c.recall(p, r.id)
	c.deleting.tenant, c.deleting.name = p.Tenant, p.Name
	handled = c.endDeleted(p) && c.endReporting(p)
	c.deleting.tenant, c.deleting.name = "", ""
	if !handled {
		return false
	}
	if q := c.written[r.id]; q != nil {
		p.follow(q)
	}
	c.unit(p.Bytes() + labelRowsBytes(len(p.Of.Labels), p.Name))
	c.forget(s, r, p)
	c.audit(p.Actor, job.ActionDelete, job.AuditEntry{Tenant: p.Tenant, Name: p.Name, Job: r.id, Before: p.Before})
	c.rows.release(s)
	return true
}

// endDeleted ends the runs of a deleted job that wait on the pad. It returns false if some are left for the next
// step.
func (c *Core) endDeleted(p *Delete) bool {
	return c.endWithdrawn(&p.Withdrawn, func(pad.Launch) job.Reason {
		p.Result.Cancelled++
		return job.ReasonDeleted
	})
}

// endReporting ends the runs of a job that wait for a report, and counts the outcomes of all its runs. It returns
// false if some are left for the next step.
func (c *Core) endReporting(p *Delete) bool {
	for i, id := range p.Live {
		if !c.more() {
			p.Live = p.Live[i:]
			return false
		}
		live, ok := c.live[id]
		switch {
		case ok && live.watch != 0:
			c.unit(c.endingBytes(id))
			c.cancelLive(job.Outcome{Run: id, Cancelled: job.ReasonDeleted})
			p.Result.Cancelled++
		case ok:
			p.Result.Running++
		}
	}
	p.Live = nil
	return true
}

// forget deletes all rows of a job except its history, which stays until it is pruned, and its definition while notices
// need that. Without the job, no request lists either.
func (c *Core) forget(s seat, r *hotRow, p *Delete) {
	id := r.id
	c.disarm(r)
	c.dropDebt(id)
	c.endStreak(id)
	c.dropProfile(r)
	c.names.remove(p.Hash)
	t := c.tenantOf(r)
	c.charge(t, id, -int64(p.Of.Bytes))
	c.indexLabels(id, p.Name, p.Of.Labels, nil)
	c.unindexTraits(r)
	c.tenants.dropJob(t)
	c.tenants.forget(id)
	c.out.Batch.DeleteName(p.Tenant, p.Name)
	for _, kind := range []job.Kind{job.KindJob, job.KindTimer, job.KindNote} {
		c.out.Batch.DeleteJobRow(kind, id)
	}
	c.keepDeleted(id, p.Record, p.Result.Running)
}

// checkPresent refuses a change of a job that does not exist, or whose version is not the demanded one. A nil
// ifVersion demands none.
func checkPresent(r *hotRow, name string, ifVersion *uint32) error {
	switch {
	case r == nil:
		return UnknownJob(name)
	case ifVersion != nil && *ifVersion != r.version:
		return errOtherVersion(r, name, *ifVersion)
	}
	return nil
}

func errOtherVersion(r *hotRow, name string, want uint32) error {
	return apierr.Errorf(apierr.VersionConflict, "if_version", "job %q is at version %d, not %d; read it again", name, r.version, want)
}

// UnknownJob returns the error that there is no job with a name.
func UnknownJob(name string) error {
	return apierr.Errorf(apierr.NotFound, "name", "there is no job %q", name)
}

// pause stops the ticks of a job, or resumes them. The cursor stays. Ticks that pass during the pause are decided at
// the resume, by the job's policy for missed runs.
//
// The launches that a pause withdraws end first, each in its own unit. If there are many, the rest ends in the next
// steps; the job is paused when all have ended.
func (c *Core) pause(p *Pause) (handled bool) {
	s, r := c.find(p.Hash)
	p.Err = checkPresent(r, p.Name, p.IfVersion)
	revives := p.Err == nil && p.Resume && r.flags.Is(job.FlagFailed)
	if revives {
		p.Err = c.replanFailed(r)
	}
	if p.Err != nil || !revives && r.flags.Is(job.FlagPaused) == !p.Resume || p.IfFailing && !c.isFailing(r) {
		c.putBack(p)
		return true
	}
	c.recall(p, r.id)
	if !p.Resume && !c.endWithdrawn(&p.Withdrawn, pausedReason) {
		return false
	}
	c.unit(p.Bytes() + c.debtBytes(r.id))
	action := job.ActionPause
	r.flags |= job.FlagPaused
	if p.Resume {
		r.flags &^= job.FlagPaused
		action = job.ActionResume
		r.flags &^= job.FlagFailed
		r.resume(c.now)
		c.wasAway(r)
		c.endStreak(r.id)
	} else if c.debts.has(r.id) {
		c.skipDebt(r, job.ReasonPaused, 0)
		c.goOn(r)
	}
	r.version++
	c.arm(s, r)
	c.writeTimer(r)
	if !r.flags.Is(job.FlagFailed) { // a failed job keeps its note, which says why it failed, until it is resumed
		c.out.Batch.PutNote(r.id, job.Note{At: c.now, Reason: p.Reason, By: p.Actor.By})
	}
	c.audit(p.Actor, action, job.AuditEntry{Tenant: p.Tenant, Name: p.Name, Job: r.id, Detail: p.Reason})
	c.putBack(p)
	return true
}

// replanFailed evaluates the present schedule of a failed job, and moves its cursor to the first tick after the
// instant at which it failed. If the job cannot continue it stays failed, and the error says why.
func (c *Core) replanFailed(r *hotRow) error {
	p := c.profiles.get(r.profile)
	if err := p.fault(); err != nil {
		return apierr.Errorf(apierr.InvalidSchedule, "schedule",
			"the job failed because its schedule cannot be evaluated, and it still cannot: %v; change the job, or the calendar that it follows, and resume it then", err)
	}
	if p.schedule == nil {
		return nil
	}
	next, ok := p.search(r.cursor-1, r.cursor)
	switch {
	case p.gaveUp:
		return apierr.Errorf(apierr.InvalidSchedule, "schedule", "the job failed because %v, and they still do; change the job, or the calendar that it follows, and resume it then", errTooCostly)
	case !ok:
		return apierr.Errorf(apierr.InvalidSchedule, "schedule", "the job failed at %s, and its schedule has no tick from there on; change the job, or the calendar that it follows", r.cursor)
	}
	r.cursor = next
	return nil
}

// pausedReason returns why a launch ends that a pause withdrew, or 0 if it is kept. The first attempt of a scheduled
// tick ends as skipped. Manual runs, and further attempts of runs that have begun, are kept. A caller has asked for a
// manual run knowing that the job may be paused, and a run that has begun is not a tick.
func pausedReason(l pad.Launch) job.Reason {
	if l.Run.IsManual() || l.Attempt > 1 {
		return 0
	}
	return job.ReasonPaused
}

// recall adds to a proposal the launches of its job that this step has asked for, for an outcome or an earlier proposal.
// They are withdrawn like those on the pad, which they have not reached yet.
func (c *Core) recall(p Withdrawer, id job.ID) {
	if _, some := c.asked[id]; some {
		c.holdBack(p, id)
	}
}

// holdBack moves the launches of a job that this step asked for to a proposal.
func (c *Core) holdBack(p Withdrawer, id job.ID) {
	list := p.Withdrawals()
	c.out.Launches = slices.DeleteFunc(c.out.Launches, func(l pad.Launch) bool {
		if l.Run.Job == id {
			*list = append(*list, l)
		}
		return l.Run.Job == id
	})
}

// endWithdrawn ends the launches for which why returns a reason, and removes them from the list, with those that are
// void. It returns false if the step has no room for all of them.
func (c *Core) endWithdrawn(list *[]pad.Launch, why func(pad.Launch) job.Reason) (all bool) {
	kept := (*list)[:0]
	for i, l := range *list {
		if !c.more() {
			*list = append(kept, (*list)[i:]...)
			return false
		}
		if c.isVoid(l) {
			continue
		}
		reason := why(l)
		if reason == 0 {
			kept = append(kept, l)
			continue
		}
		c.unit(c.endingBytes(l.Run))
		c.abandon(l, reason)
	}
	*list = kept
	return true
}

// isVoid reports whether the run of a withdrawn launch has ended since. A run between two attempts, or one that waits
// for a place, has its turn and a launch on the pad, so it can be cancelled for a later run while a proposal has
// withdrawn that launch.
func (c *Core) isVoid(l pad.Launch) bool {
	live, some := c.live[l.Run]
	return !some || live.attempt != l.Attempt
}

// abandon ends the run of a withdrawn launch.
func (c *Core) abandon(l pad.Launch, reason job.Reason) {
	c.skipLive(l.Run, l.Attempt, reason)
}

// putBack returns to the pad the launches that a proposal withdrew and did not end, unless they are void. Each path of
// a proposal that withdraws must end here or end its launches: one that is forgotten would not be launched until the
// next start.
func (c *Core) putBack(p Withdrawer) {
	list := p.Withdrawals()
	for _, l := range *list {
		if !c.isVoid(l) {
			c.out.Launches = append(c.out.Launches, l)
		}
	}
	*list = nil
}
