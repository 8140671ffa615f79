package core

import (
	"slices"

	"github.com/carillon-io/carillon/job"
	"github.com/carillon-io/carillon/scheduler/pad"
)

// cancelRun ends a run that is not over, as cancelled. The pad withdraws launches by job, not by run, so those of the
// job's other runs are put back.
func (c *Core) cancelRun(p *CancelRun) {
	if _, live := c.live[p.Run]; !live {
		p.Err = ErrNotLive
		c.putBack(p)
		return
	}
	c.unit(p.Bytes() + c.endingBytes(p.Run))
	p.Withdrawn = slices.DeleteFunc(p.Withdrawn, func(l pad.Launch) bool { return l.Run == p.Run })
	c.putBack(p)
	c.cancelLive(job.Outcome{Run: p.Run, Attempt: p.Attempt, LaunchedAt: p.Begun.Time(), Cancelled: job.ReasonRequested})
	c.audit(p.Actor, job.ActionCancelRun, job.AuditEntry{Tenant: p.Tenant, Name: p.Name, Job: p.Run.Job, Detail: p.Run.String()})
}

// retryRun starts another attempt of a run that is over, now. Its retry policy counts attempts from 1 again. The
// proposal has the run as its proposer read it. If another retry came since, the run is live, or over with other
// attempts, and the proposal is stale.
func (c *Core) retryRun(p *RetryRun) {
	s, r := c.find(p.Hash)
	if r == nil || r.id != p.Run.ID.Job {
		p.Err = UnknownJob(p.Name)
		return
	}
	if p.Err = c.checkUnchanged(p.Run.ID, p.AsOf); p.Err != nil {
		return
	}
	if p.Err = c.checkManual(c.tenantOf(r), 1); p.Err != nil {
		return
	}
	run := p.Run
	c.out.Batch.DeleteHistory(run.ID)
	if run.IsListedDead() {
		c.out.Batch.DeleteDead(c.tenantOf(r).hash, run.ID)
	}
	c.redone.add(c.lsn, run.ID, c.lsn)
	run.Base, run.Reason, run.FinishedAt, run.Dismissal = run.Attempt, 0, 0, job.Dismissal{}
	c.revive(s, &run)
	c.audit(p.Actor, job.ActionRetryRun, job.AuditEntry{Tenant: p.Tenant, Name: p.Name, Job: r.id, Detail: run.ID.String()})
	p.Run = run
}

// checkUnchanged returns ErrStale unless the history has a run as it was at an LSN: it was neither retried nor dismissed
// since then.
func (c *Core) checkUnchanged(id job.RunID, asOf uint64) error {
	_, live := c.live[id]
	if lsn, _ := c.redone.find(id); live || lsn > asOf || !c.redone.covers(asOf) {
		return ErrStale
	}
	return nil
}

// dismissRun marks a dead run as dealt with, and takes it off the list of dead runs. The proposal has the run as its
// proposer read it. No notice tells of it, because the run's status stays the same.
func (c *Core) dismissRun(p *DismissRun) {
	_, r := c.find(p.Hash)
	if r == nil || r.id != p.Run.ID.Job {
		p.Err = UnknownJob(p.Name)
		return
	}
	if p.Err = c.checkUnchanged(p.Run.ID, p.AsOf); p.Err != nil {
		return
	}
	run := p.Run
	run.Dismissal = job.Dismissal{At: c.now, By: p.Actor.By, Reason: p.Reason}
	c.out.Batch.PutHistory(&run)
	c.out.Batch.DeleteDead(c.tenantOf(r).hash, run.ID)
	c.redone.add(c.lsn, run.ID, c.lsn)
	c.counts.Dismissed++
	c.audit(p.Actor, job.ActionDismissRun, job.AuditEntry{Tenant: p.Tenant, Name: p.Name, Job: r.id, Detail: run.ID.String()})
}

// revive makes a finished run live again; its next attempt is due now. The fence of the new attempt is that of this
// commit, higher than any that the run had, so that a worker of an earlier attempt is refused.
func (c *Core) revive(s seat, run *job.Run) {
	run.Status, run.Due = job.StatusRetrying, max(c.now, run.ID.At)
	run.Attempt, run.Fence = run.Attempt+1, c.lsn
	live := liveRun{
		tenant: c.tenants.ofJob(c.rows.row(s)), byHand: true,
		seat: s, attempt: run.Attempt, fence: run.Fence, due: run.Due, payload: run.HasPayload,
		waits: c.profiles.get(c.rows.row(s).profile).limit() > 0,
	}
	c.live[run.ID] = live
	c.retries[run.ID] = run
	c.goLive(live)
	c.isUsed(s, c.rows.row(s))
	c.counts.Retried++
	c.out.Batch.PutRun(run)
	c.announce(run)
	c.out.Launches = append(c.out.Launches, c.launchOf(live, run, pad.ModeWait))
	c.asked[run.ID.Job] = struct{}{}
}
