package core

import (
	"github.com/carillon-io/carillon/instant"
	"github.com/carillon-io/carillon/job"
	"github.com/carillon-io/carillon/scheduler/pad"
)

// conclude handles the outcome of an attempt. It ignores the outcome of a run that is not live, of an attempt that is
// not the current one, and of an attempt that was delivered and waits for a report. Such outcomes are normal: an
// attempt that was cancelled, or whose worker has already reported, still answers.
func (c *Core) conclude(o job.Outcome) {
	live, ok := c.live[o.Run]
	if ok && o.Attempt == live.attempt && live.watch == 0 && o.Cancelled == 0 && !o.LaunchedAt.IsZero() {
		c.measure(live, &o)
	}
	switch {
	case !ok:
	case o.Cancelled != 0:
		c.cancelLive(o)
	case live.attempt != o.Attempt || live.watch != 0:
	case o.Skipped != 0:
		c.skipLive(o.Run, o.Attempt, o.Skipped)
	case o.Error != "":
		c.failed(live, o)
	default:
		c.delivered(live, o)
	}
}

// delivered handles an attempt that its target accepted: the run is over, or waits for its worker's report.
func (c *Core) delivered(live liveRun, o job.Outcome) {
	if within := c.reportWithin(live, o.Run); within > 0 {
		c.awaitReport(live, o, c.now+within)
		return
	}
	c.succeeded(live, o)
}

// succeeded ends a run, and with it the job's streak of failures.
func (c *Core) succeeded(live liveRun, o job.Outcome) {
	run := c.attempted(live, o, job.StatusSucceeded)
	run.Result = o.Result
	c.counts.Succeeded++
	c.finish(run)
	c.endStreak(o.Run.Job)
	if r := c.rows.row(live.seat); r.id == o.Run.Job {
		c.markDead(live.seat, r, false)
	}
}

// failed decides whether another attempt follows a failed one.
func (c *Core) failed(live liveRun, o job.Outcome) {
	c.counts.Failed++
	c.unwatch(&live)
	c.live[o.Run] = live
	r := c.rows.row(live.seat)
	if r.id != o.Run.Job {
		run := c.attempted(live, o, job.StatusCancelled)
		run.Reason = job.ReasonDeleted
		c.finish(run)
		return
	}
	p := c.profiles.get(r.profile)
	run := c.attempted(live, o, job.StatusRetrying)
	due, again := c.nextAttempt(&p.Retry, run, o)
	if !again {
		run.Reason = o.Died
		c.die(live.seat, r, p, run)
		return
	}
	c.retry(live, run, due)
}

// nextAttempt returns when the attempt after a failed one is due, or false if there is none. If the target asks for a
// longer pause than the policy has, it gets the longer one. The backoff has jitter that depends on the run, so that
// runs which failed together do not return together.
func (c *Core) nextAttempt(policy *job.Retry, run *job.Run, o job.Outcome) (due instant.Millis, again bool) {
	n := o.Attempt - run.Base
	if n >= policy.MaxAttempts || o.Died != 0 || o.Refused && !policy.ClientErrors {
		return 0, false
	}
	due = c.now + instant.MillisUp(max(policy.Backoff(n, run.ID), min(o.RetryAfter, job.RetryAfterMax)))
	due = max(due, run.ID.At) // the clock may have been set back since the first attempt
	tooOld := policy.MaxAge > 0 && run.Base == 0 && due.Sub(run.ID.At) > policy.MaxAge
	return due, !tooOld
}

// retry makes the next attempt of a live run due at an instant.
func (c *Core) retry(live liveRun, run *job.Run, due instant.Millis) {
	run.Status, run.Deadline = job.StatusRetrying, 0
	run.Attempt, run.Fence, run.Due = run.Attempt+1, c.lsn, due
	live.attempt, live.fence = run.Attempt, run.Fence
	c.live[run.ID] = live
	c.retries[run.ID] = run
	c.counts.Retried++
	c.out.Batch.PutRun(run)
	c.announce(run)
	c.out.Launches = append(c.out.Launches, c.launchOf(live, run, pad.ModeHeld))
	c.asked[run.ID.Job] = struct{}{}
}

// launchOf returns a launch for the current attempt of a live run.
func (c *Core) launchOf(live liveRun, run *job.Run, mode pad.Mode) pad.Launch {
	l := pad.Launch{
		Run: run.ID, Due: run.Due, Fence: run.Fence, Attempt: run.Attempt, HasPayload: run.HasPayload,
		Tenant: pad.Tenant(c.tenants.ofJob(c.rows.row(live.seat))),
	}
	p := c.profiles.get(c.rows.row(live.seat).profile)
	if live.waits {
		l.Mode, l.Limit, l.Ends = mode, p.limit(), p.foresee(run.Attempt-run.Base)
	}
	l.Expires = p.expiry(run)
	return l
}

// expiry returns the instant after which no attempt of a run begins; 0 if there is none.
func (p *profileEntry) expiry(run *job.Run) instant.Millis {
	if p.Retry.MaxAge == 0 || run.Base > 0 {
		return 0
	}
	return run.ID.At.Add(p.Retry.MaxAge)
}

// die ends a run whose attempts are exhausted.
func (c *Core) die(s seat, r *hotRow, p *profileEntry, run *job.Run) {
	run.Status, run.FinishedAt = job.StatusDead, c.now
	c.counts.Dead++
	c.finish(run)
	c.out.Batch.PutDead(c.tenantOf(r).hash, run.ID)
	c.markDead(s, r, true)
	c.extendStreak(p, run)
}

// markDead records whether the job's run that ended last is dead. If it is, a completed job is kept as long as the
// run is listed, so that the run can be retried.
func (c *Core) markDead(s seat, r *hotRow, dead bool) {
	if r.flags.Is(job.FlagDead) == dead {
		return
	}
	r.flags ^= job.FlagDead
	c.setTrait(r, job.TraitDead, dead)
	if r.flags.Is(job.FlagCompleted) {
		c.arm(s, r)
	}
	c.writeTimer(r)
}

// skipLive ends a live run that is not with a target: as skipped if it was never launched, otherwise as cancelled.
func (c *Core) skipLive(id job.RunID, attempt uint32, reason job.Reason) {
	run := c.finalRun(id, job.StatusSkipped)
	if attempt > 1 {
		run.Status = job.StatusCancelled
	}
	run.Reason = reason
	c.finish(run)
}

// finalRun returns the record of a live run that ends now with a status.
func (c *Core) finalRun(id job.RunID, status job.Status) *job.Run {
	run := c.retries[id]
	if run == nil {
		live := c.live[id]
		run = &job.Run{ID: id, Attempt: live.attempt, Fence: live.fence, Due: live.due, HasPayload: live.payload}
	}
	run.Status, run.Deadline = status, 0
	if status.IsFinal() {
		run.FinishedAt = c.now
	}
	return run
}

// attempted returns the record of a live run with one more finished attempt. A run that succeeds at its first attempt
// gets no list of attempts, because its own fields say the same.
func (c *Core) attempted(live liveRun, o job.Outcome, status job.Status) *job.Run {
	run := c.finalRun(o.Run, status)
	c.noteLaunch(run, o)
	run.Duration, run.Error = o.Duration, o.Error
	if o.Attempt > 1 || o.Error != "" {
		run.AddAttempt(job.Attempt{
			Number: o.Attempt, Fence: live.fence, LaunchedAt: run.LaunchedAt, Duration: o.Duration, Error: o.Error,
		})
	}
	return run
}

// noteLaunch records when an attempt was launched, unless that is known already.
func (c *Core) noteLaunch(run *job.Run, o job.Outcome) {
	if o.LaunchedAt.IsZero() {
		if run.LaunchedAt == 0 || o.Attempt > 1 {
			run.LaunchedAt = c.now
		}
		return
	}
	run.LaunchedAt = instant.Of(o.LaunchedAt)
	if o.Attempt == 1 {
		run.Lateness = max(0, o.LaunchedAt.Sub(run.Due.Time()))
	}
}

// finish moves a run from the live runs to the history. The live row is deleted and the final row written in one unit,
// so a run is at any position of the log either live or over, and never both. Everything that hangs on a live run must
// be dropped here.
func (c *Core) finish(run *job.Run) {
	live := c.live[run.ID]
	c.unwatch(&live)
	switch run.Status {
	case job.StatusSkipped:
		c.countSkip(run.Reason)
	case job.StatusCancelled:
		c.counts.Cancelled++
	}
	if live.payload && run.Status != job.StatusDead {
		c.out.Batch.DeletePayload(run.ID)
	}
	if live.waits || run.Status == job.StatusCancelled { // the pad may still have launches or a turn of it
		c.out.Ended = append(c.out.Ended, run.ID)
	}
	if run.ID.At > c.now {
		c.overAhead.add(c.lsn, run.ID.Job, c.lsn)
	}
	c.goOver(live)
	delete(c.live, run.ID)
	delete(c.retries, run.ID)
	c.out.Batch.DeleteRun(run.ID)
	c.out.Batch.PutHistory(run)
	c.announce(run)
	c.isOverDeleted(run.ID.Job)
}

func (c *Core) countSkip(reason job.Reason) {
	c.counts.Skipped++
	c.counts.SkippedBy[reason]++
}
