package scheduler

import "github.com/carillon-io/carillon/job"

// addLastRun adds the newest run of a job. Ticks are decided ahead of their time; until then its owner
// sees them as what they are to him: the next runs, of a job that is active.
func (e *Engine) addLastRun(v *JobView, timer job.Timer) error {
	id, ok := timer.LastRun(v.ID)
	if !ok {
		return nil
	}
	run, ok, err := e.readRun(id)
	if err != nil {
		return err
	}
	now := job.MillisOf(e.opts.Clock.Now())
	tick, launch := job.Millis(0), job.Millis(0)
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
	return e.addNewestRun(v, timer.Last+1) // a skipped range ends there, or manual runs for earlier times followed
}

// isAhead tells whether a run was decided and is not due.
func isAhead(run *job.Run, now job.Millis) bool {
	return run.Status == job.StatusPending && run.Due > now
}

// nextDecided returns the next of the runs that were decided ahead: for when it was scheduled, and when it is
// launched. There are as many as the job has ticks within the lead.
func (e *Engine) nextDecided(id job.ID, now job.Millis) (tick, launch job.Millis, err error) {
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

// addRunUpTo adds the newest run that was scheduled by now, and before the next one: jitter may put that off
// beyond now.
func (e *Engine) addRunUpTo(v *JobView, now job.Millis) error {
	to := now + 1
	if v.NextRunAt > 0 {
		to = min(to, v.NextRunAt)
	}
	return e.addNewestRun(v, to)
}

// addNewestRun adds the newest run that was scheduled before an instant.
func (e *Engine) addNewestRun(v *JobView, to job.Millis) error {
	l := runLister{engine: e, query: RunQuery{To: to, Limit: 1}, rec: &v.Record}
	if err := l.list(); err != nil || len(l.page.Runs) == 0 {
		return err
	}
	v.LastRun = &l.page.Runs[0].Run
	return nil
}
