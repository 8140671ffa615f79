package scheduler

import (
	"time"

	"github.com/carillon-io/carillon/job"
)

// conclude takes in how an attempt ended. An outcome of a run that is not live, or of an attempt that
// is not the current one, is void.
func (c *Core) conclude(o job.Outcome) {
	live, ok := c.live[o.Run]
	if !ok || live.attempt != o.Attempt {
		return
	}
	switch {
	case o.Skipped != 0:
		run := c.finalRun(o.Run, job.StatusSkipped)
		run.Reason = o.Skipped
		c.finish(run)
	case o.Error == "":
		c.counts.Succeeded++
		c.finish(c.attempted(live, o, job.StatusSucceeded))
	default:
		c.counts.Failed++
		c.failed(live, o)
	}
}

// failed decides, after a failed attempt, whether another follows.
func (c *Core) failed(live liveRun, o job.Outcome) {
	r := c.rows.row(live.slot)
	if r.id != o.Run.Job {
		run := c.attempted(live, o, job.StatusCancelled)
		run.Reason = job.ReasonDeleted
		c.finish(run)
		return
	}
	policy := c.profiles.get(r.profile).Retry
	due := c.now + millisUp(policy.Backoff(o.Attempt))
	tooOld := policy.MaxAge > 0 && due.Sub(o.Run.At) > policy.MaxAge
	if o.Attempt >= policy.MaxAttempts || tooOld {
		c.counts.Dead++
		c.finish(c.attempted(live, o, job.StatusDead))
		return
	}
	run := c.attempted(live, o, job.StatusRetrying)
	run.Attempt, run.Fence, run.Due = o.Attempt+1, c.lsn, due
	live.attempt, live.fence = run.Attempt, run.Fence
	c.live[o.Run] = live
	c.retries[o.Run] = run
	c.out.Batch.PutRun(run)
	c.out.Launches = append(c.out.Launches, Launch{
		Run: o.Run, Due: due, Fence: run.Fence, Attempt: run.Attempt, Mode: ModeHeld, HasPayload: live.payload,
		Tenant: r.tenant,
	})
}

// millisUp rounds a length up, so that a retry is never early.
func millisUp(d time.Duration) job.Millis {
	return job.Millis((d + time.Millisecond - 1) / time.Millisecond)
}

// finalRun returns what is known of a live run, ending it now in a state.
func (c *Core) finalRun(id job.RunID, status job.Status) *job.Run {
	run := c.retries[id]
	if run == nil {
		live := c.live[id]
		run = &job.Run{ID: id, Attempt: live.attempt, Fence: live.fence, Due: id.At, HasPayload: live.payload}
	}
	run.Status = status
	if status.IsFinal() {
		run.FinishedAt = c.now
	}
	return run
}

// attempted returns a live run after one more finished attempt.
func (c *Core) attempted(live liveRun, o job.Outcome, status job.Status) *job.Run {
	run := c.finalRun(o.Run, status)
	launched := job.MillisOf(o.LaunchedAt)
	if o.LaunchedAt.IsZero() {
		launched = c.now
	}
	if o.Attempt == 1 && !o.LaunchedAt.IsZero() {
		run.Lateness = max(0, o.LaunchedAt.Sub(run.Due.Time()))
	}
	run.LaunchedAt, run.Duration, run.Error = launched, o.Duration, o.Error
	if o.Attempt > 1 || o.Error != "" {
		run.AddAttempt(job.Attempt{
			Number: o.Attempt, Fence: live.fence, LaunchedAt: launched, Duration: o.Duration, Error: o.Error,
		})
	}
	return run
}

// finish moves a run from the live ones to the history.
func (c *Core) finish(run *job.Run) {
	live := c.live[run.ID]
	if run.Status == job.StatusSkipped {
		c.counts.Skipped++
	}
	if live.payload {
		c.out.Batch.DeletePayload(run.ID)
	}
	if live.waits {
		c.out.Settled = append(c.out.Settled, run.ID)
	}
	delete(c.live, run.ID)
	delete(c.retries, run.ID)
	c.out.Batch.DeleteRun(run.ID)
	c.out.Batch.PutHistory(run)
}
