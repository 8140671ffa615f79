package scheduler

import (
	"github.com/carillon-io/carillon/instant"
	"github.com/carillon-io/carillon/job"
)

// addLastRun adds the newest run of a job. Ticks are decided ahead of their time. Until they are due, the owner of
// the job sees them as its next runs, and the job as active.
func (e *Engine) addLastRun(v *JobView, timer job.Timer) error {
	id, ok := timer.LastRun(v.ID)
	if !ok {
		return nil
	}
	run, ok, err := e.readRun(id)
	if err != nil {
		return err
	}
	now := instant.Of(e.opts.Clock.Now())
	tick, launch := instant.Millis(0), instant.Millis(0)
	if timer.Last > now || isAhead(&run, now) {
		if tick, launch, err = e.nextDecided(v.ID, now); err != nil {
			return err
		}
	}
	switch {
	case tick != 0:
		v.NextRunAt, v.NextLaunchAt = tick, launch
		if v.Status == "completed" {
			v.Status = "active"
		}
		return e.addRunUpTo(v, now)
	case ok:
		v.LastRun = &run
		return nil
	}
	return e.addNewestRun(v, timer.Last+1) // the newest tick ends a skipped range, or manual runs for earlier times followed it
}

// isAhead reports whether a run is decided and not yet due. Callers see such a run as the next one, because for them
// it has not happened.
func isAhead(run *job.Run, now instant.Millis) bool {
	return run.Status == job.StatusPending && run.Due > now
}

// nextDecided returns the scheduled time and the launch time of the next run that was decided ahead. It reads as many
// runs as the job has ticks within the lead. Rows of live runs are newest first, so the last one that is ahead is the
// next to come.
func (e *Engine) nextDecided(id job.ID, now instant.Millis) (tick, launch instant.Millis, err error) {
	low := job.AppendJobKey(nil, job.KindRun, id)
	seen := 0
	err = e.opts.Store.Scan(low, job.PrefixEnd(low), func(key, value []byte) (bool, error) {
		runID, err := job.ParseRunKey(key)
		if err != nil {
			return false, err
		}
		run, err := job.DecodeRun(runID, value)
		if err != nil {
			return false, err
		}
		ahead := isAhead(&run, now)
		if ahead {
			tick, launch = runID.At, run.Due
		}
		seen++
		return ahead && seen < runScanMax, nil
	})
	return tick, launch, err
}

// addRunUpTo adds the newest run that was scheduled by now, but not the next run, whose launch jitter may delay
// beyond now.
func (e *Engine) addRunUpTo(v *JobView, now instant.Millis) error {
	to := now + 1
	if v.NextRunAt > 0 {
		to = min(to, v.NextRunAt)
	}
	return e.addNewestRun(v, to)
}

// addNewestRun adds the newest run that was scheduled before an instant.
func (e *Engine) addNewestRun(v *JobView, to instant.Millis) error {
	l := runLister{engine: e, query: RunQuery{To: to, Limit: 1}, rec: &v.Record, tick: to}
	if err := l.list(); err != nil || len(l.page.Runs) == 0 {
		return err
	}
	v.LastRun = &l.page.Runs[0].Run
	return nil
}
