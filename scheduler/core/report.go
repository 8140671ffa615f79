package core

import (
	"github.com/carillon-io/carillon/apierr"
	"github.com/carillon-io/carillon/instant"
	"github.com/carillon-io/carillon/job"
)

// A run of a job with completion "reported" is not over when its target has accepted it: a worker reports its
// outcome, with the fence that the worker received. Until then the run is live, and its deadline is a timer on the
// wheel, like the tick of a job. So no periodic search for overdue runs is needed.

// reportWithin returns how long the worker of a run has for its report; 0 if the run needs none.
func (c *Core) reportWithin(live liveRun, id job.RunID) instant.Millis {
	r := c.rows.row(live.seat)
	if r.id != id.Job {
		return 0
	}
	return c.profiles.get(r.profile).ReportWithin
}

// awaitReport keeps a delivered run live until a report comes or the deadline passes. The deadline is in the row, so a
// new leader continues to wait for the same instant.
func (c *Core) awaitReport(live liveRun, o job.Outcome, deadline instant.Millis) {
	run := c.finalRun(o.Run, job.StatusRunning)
	c.noteLaunch(run, o)
	run.Deadline = deadline
	c.retries[o.Run] = run
	c.watch(&live, run)
	c.live[o.Run] = live
	if live.waits {
		c.out.Going = append(c.out.Going, o.Run)
	}
	c.out.Batch.PutRun(run)
	c.announce(run)
}

// report handles the report of a worker.
func (c *Core) report(p *Report) {
	c.unit(p.Bytes() + c.endingBytes(p.Run))
	live, err := c.reported(p.Run, p.Fence, p.Begun)
	if err != nil {
		p.Err = err
		return
	}
	o := c.reportOf(c.retries[p.Run])
	o.Result = p.Result
	if p.Failed {
		o.Error = p.Error
		c.failed(live, o)
		return
	}
	c.succeeded(live, o)
}

// reportOf returns the outcome of an attempt that ends now, by a report or for lack of one.
func (c *Core) reportOf(run *job.Run) job.Outcome {
	o := job.Outcome{Run: run.ID, Attempt: run.Attempt, LaunchedAt: run.LaunchedAt.Time()}
	o.Duration = max(0, c.now.Sub(run.LaunchedAt))
	if run.Attempt == 1 {
		o.LaunchedAt = run.Due.Time().Add(run.Lateness) // known to the nanosecond
	}
	return o
}

// extend moves the deadline of a worker's report. The deadline never moves to an earlier instant, so that a late
// extension cannot shorten what an earlier one promised.
func (c *Core) extend(p *Extend) {
	c.unit(p.Bytes() + c.endingBytes(p.Run))
	live, err := c.reported(p.Run, p.Fence, p.Begun)
	if err != nil {
		p.Err = err
		return
	}
	run := c.retries[p.Run]
	run.Deadline = max(run.Deadline, c.now+instant.MillisUp(p.By))
	c.watch(&live, run)
	c.live[p.Run] = live
	c.out.Batch.PutRun(run)
	p.Deadline = run.Deadline
}

// reported returns the live run that a report names with the right fence. A report may arrive before the outcome of
// the delivery; begun is when the attempt was launched. Its delivery then counts as accepted, because only an accepted
// attempt reaches a worker.
func (c *Core) reported(id job.RunID, fence uint64, begun instant.Millis) (liveRun, error) {
	live, ok := c.live[id]
	switch {
	case !ok:
		return live, ErrNotLive
	case live.fence != fence:
		c.noteStale(live, id)
		return live, apierr.Errorf(apierr.StaleFence, "fence", "run %s is at fence %d now, not %d: another attempt has taken over; drop this one", id, live.fence, fence)
	case live.watch != 0:
		return live, nil
	}
	within := c.reportWithin(live, id)
	if within == 0 {
		return live, errUnreported(id)
	}
	if begun == 0 {
		return live, errNotLaunched(id)
	}
	c.awaitReport(live, job.Outcome{Run: id, Attempt: live.attempt, LaunchedAt: begun.Time()}, begun+within)
	return c.live[id], nil
}

// noteStale records that a report was refused for its fence. The count is durable, because it is the trace of two
// workers on one run.
func (c *Core) noteStale(live liveRun, id job.RunID) {
	c.counts.Stale++
	run := c.retries[id]
	if run == nil {
		run = &job.Run{ID: id, Status: job.StatusPending, Attempt: live.attempt, Fence: live.fence, Due: live.due, HasPayload: live.payload}
		c.retries[id] = run
	}
	run.Stale++
	c.out.Batch.PutRun(run)
}

func errUnreported(id job.RunID) error {
	return apierr.Errorf(apierr.InvalidField, "run_id", `run %s needs no report: its job has completion "delivered"`, id)
}

func errNotLaunched(id job.RunID) error {
	return apierr.Errorf(apierr.InvalidField, "run_id", "run %s has not been launched, so it cannot be reported on", id)
}
