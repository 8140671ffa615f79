package core

import (
	"slices"

	"github.com/carillon-io/carillon/job"
	"github.com/carillon-io/carillon/scheduler/pad"
)

// cancelledText is the error of an attempt that ended because its run was cancelled.
const cancelledText = "cancelled"

// cancelLive ends a live run in any state, for the reason in o.Cancelled. If its attempt is with its target, the attempt is
// aborted, and o.Attempt and o.LaunchedAt say so; if this step asked for the attempt, it is not made.
func (c *Core) cancelLive(o job.Outcome) {
	live := c.live[o.Run]
	if live.fence >= c.stepLSN {
		c.out.Launches = slices.DeleteFunc(c.out.Launches, func(l pad.Launch) bool { return l.Run == o.Run })
	}
	run := c.cancelled(live, o)
	run.Reason = o.Cancelled
	c.out.Aborts = append(c.out.Aborts, o.Run)
	c.finish(run)
}

// cancelled returns the record of a live run that is cancelled. An attempt that has been launched ends now, if its own outcome is not
// there. The error of the attempt before it stays.
func (c *Core) cancelled(live liveRun, o job.Outcome) *job.Run {
	run := c.finalRun(o.Run, job.StatusCancelled)
	switch {
	case live.watch != 0:
		o = c.reportOf(run)
	case o.Attempt == live.attempt:
		o.Duration = max(0, c.now.Time().Sub(o.LaunchedAt))
	default:
		o = c.landed.of(o.Run)
	}
	if o.Attempt != live.attempt || o.LaunchedAt.IsZero() {
		return run
	}
	c.noteLaunch(run, o)
	run.Duration = o.Duration
	run.AddAttempt(job.Attempt{Number: o.Attempt, Fence: live.fence, LaunchedAt: run.LaunchedAt, Duration: o.Duration, Error: cancelledText})
	return run
}

// landings are the outcomes of a step, of which those of attempts are found by their runs. A step may have no room for the outcome of
// an attempt, and yet cancel its run.
type landings struct {
	list  []job.Outcome
	byRun map[job.RunID]int // in the list; nil until it is needed
}

// of returns the outcome of the attempt of a run; the zero outcome if there is none.
func (l *landings) of(run job.RunID) job.Outcome {
	if l.byRun == nil {
		l.byRun = make(map[job.RunID]int)
		for i := range l.list {
			if l.list[i].Cancelled == 0 {
				l.byRun[l.list[i].Run] = i
			}
		}
	}
	if i, ok := l.byRun[run]; ok {
		return l.list[i]
	}
	return job.Outcome{}
}
