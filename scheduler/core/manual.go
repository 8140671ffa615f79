package core

import (
	"github.com/carillon-io/carillon/instant"
	"github.com/carillon-io/carillon/job"
	"github.com/carillon-io/carillon/scheduler/pad"
)

// trigger starts a manual run now. The same idempotency key means the same run, whatever the version of the job is by
// now: a caller that repeats a request wants its first result. The key is checked before the version and the share,
// which could refuse the repeated request.
func (c *Core) trigger(p *Trigger) {
	s, r := c.find(p.Hash)
	if r == nil {
		p.Err = UnknownJob(p.Name)
		return
	}
	if p.Key != "" {
		if id, ok := c.onces.find(onceKey{r.id, p.Key}); ok {
			p.Run = job.Run{ID: id}
			return
		}
		if !c.onces.covers(p.AsOf) {
			p.Err = ErrStale
			return
		}
	}
	if p.Err = checkPresent(r, p.Name, p.IfVersion); p.Err != nil {
		return
	}
	if p.Err = c.checkManual(c.tenantOf(r), 1); p.Err != nil {
		return
	}
	run := c.manualRun(r, c.now)
	run.HasPayload = p.HasPayload
	c.start(s, &run, pad.ModeWait)
	c.asked[r.id] = struct{}{}
	if p.HasPayload {
		c.out.Batch.PutPayload(run.ID, p.Payload, p.PayloadJSON)
	}
	if p.Key != "" {
		c.onces.add(c.lsn, onceKey{r.id, p.Key}, run.ID)
		c.out.Batch.PutOnce(job.Day(c.now), p.Key, run.ID)
	}
	c.writeTimer(r)
	c.audit(p.Actor, job.ActionTrigger, job.AuditEntry{Tenant: p.Tenant, Name: p.Name, Job: r.id, Detail: run.ID.String()})
	p.Run = run
}

// backfill starts a manual run for each of the given ticks. The proposer has read which ticks have runs. If any
// decision or backfill may have come in between, the proposal is stale, so that no tick is fired twice. The check of
// room includes the chunks that are still to come, so that a backfill is mostly refused as a whole and not half way.
func (c *Core) backfill(p *Backfill) {
	s, r := c.find(p.Hash)
	if r == nil || r.id != p.ID {
		p.Err = UnknownJob(p.Name)
		return
	}
	if !p.Repeat && c.mayHaveFired(p, r) {
		p.Err = ErrStale
		return
	}
	if p.Err = c.checkManual(c.tenantOf(r), len(p.At)+p.Rest); p.Err != nil {
		return
	}
	for _, at := range p.At {
		run := c.manualRun(r, at)
		c.start(s, &run, pad.ModeWait)
	}
	c.asked[r.id] = struct{}{}
	c.writeTimer(r)
	c.audit(p.Actor, job.ActionBackfill, job.AuditEntry{
		Tenant: p.Tenant, Name: p.Name, Job: r.id, Detail: p.At[0].String() + "/" + p.At[len(p.At)-1].String(),
	})
}

// mayHaveFired reports whether ticks of a backfill may have been fired since its proposer read the ledger, by another
// backfill or by a decision.
func (c *Core) mayHaveFired(p *Backfill, r *hotRow) bool {
	decided := r.cursor != p.Cursor && p.At[len(p.At)-1] >= p.Cursor
	return r.version != p.Version || r.manual != p.Manual || decided
}

// manualRun returns a new manual run of a job, with the next number. The number distinguishes it from a run of the
// schedule for the same instant, and from earlier manual runs.
func (c *Core) manualRun(r *hotRow, at instant.Millis) job.Run {
	r.manual++
	if at >= r.last {
		r.last = at
		r.flags |= job.FlagLastManual
	}
	return job.Run{ID: job.RunID{Job: r.id, At: at, Seq: r.manual}, Due: c.now}
}

// start makes a run live and asks for its first launch. Row and launch are made by the same unit: a run is on the pad
// only if it is in the log.
func (c *Core) start(s seat, run *job.Run, mode pad.Mode) {
	run.Status, run.Attempt, run.Fence = job.StatusPending, 1, c.lsn
	r := c.rows.row(s)
	c.isUsed(s, r)
	p := c.profiles.get(r.profile)
	live := liveRun{
		tenant: c.tenants.ofJob(r), byHand: run.ID.IsManual(),
		seat: s, attempt: 1, fence: c.lsn, due: run.Due, payload: run.HasPayload, waits: p.limit() > 0,
	}
	c.live[run.ID] = live
	c.goLive(live)
	c.out.Batch.PutRun(run)
	c.announce(run)
	c.out.Launches = append(c.out.Launches, c.launchOf(live, run, mode))
}
