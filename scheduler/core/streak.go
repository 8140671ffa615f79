package core

import "github.com/carillon-io/carillon/job"

// A job with pause_on_failure is paused when that many of its runs in a row end dead. Its streak is a row in the
// store and an entry here, and both exist only while the streak lasts. A job without the policy has neither.

// extendStreak counts a run that ended dead, and asks for the pause when the limit is reached. The pause is not made
// here, because its entry in the audit log needs the name of the job, which only the store has.
func (c *Core) extendStreak(p *profileEntry, run *job.Run) {
	if p.PauseOnFailure == 0 {
		return
	}
	id := run.ID.Job
	n := c.streaks[id] + 1
	c.streaks[id] = n
	c.out.Batch.PutStreak(id, n)
	if n >= p.PauseOnFailure {
		c.out.Pauses = append(c.out.Pauses, AutoPause{
			ID: id, Reason: fitReason(job.PauseByFailures(n, run.Error)),
		})
	}
}

// isFailing reports whether the streak of a job has reached its limit. A job whose policy was removed or relaxed is
// not failing, whatever its streak is.
func (c *Core) isFailing(r *hotRow) bool {
	most := c.profiles.get(r.profile).PauseOnFailure
	return most > 0 && c.streaks[r.id] >= most
}

// fitReason shortens a text to the length of a pause's reason.
func fitReason(s string) string { return job.CutText(s, job.ReasonBytesMax) }

// endStreak ends the streak of a job, because a run succeeded or a caller resumed the job.
func (c *Core) endStreak(id job.ID) {
	if _, some := c.streaks[id]; some {
		delete(c.streaks, id)
		c.out.Batch.DeleteJobRow(job.KindStreak, id)
	}
}
