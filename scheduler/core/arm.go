package core

import (
	"time"

	"github.com/carillon-io/carillon/instant"
	"github.com/carillon-io/carillon/job"
	"github.com/carillon-io/carillon/wheel"
)

// arm puts the job of a row on the wheel: at its cursor if it is active, at the end of its retention if it is
// completed. Any other job is not armed. It may be called in any state of the row, and leaves at most one place where
// the job waits. It must be called after each change of the cursor, the flags or the profile, because the wheel has a
// copy of what follows from them.
func (c *Core) arm(s seat, r *hotRow) {
	completed := r.flags.Is(job.FlagCompleted)
	retention := c.retention(r)
	if r.flags.Is(job.FlagFailed) || r.flags.Is(job.FlagPaused) && !completed || completed && retention == 0 {
		c.disarm(r)
		return
	}
	if completed {
		c.armReap(s, r, max(r.cursor, r.last, c.now, instant.Millis(c.wheel.Now())).Add(retention))
		return
	}
	at := c.dueOf(r)
	c.isArmedAgain(r)
	c.setReaping(r, false)
	c.delist(r)
	if r.timer == 0 || !c.wheel.Rearm(r.timer, wheel.Tick(at)) {
		r.timer = c.wheel.Arm(uint64(s), wheel.Tick(at))
	}
}

// retention returns how long a completed job is kept; 0 means for ever. A job whose last run is dead is kept at least
// as long as the history, so that the run can still be retried.
func (c *Core) retention(r *hotRow) time.Duration {
	if c.settings.CompletedRetention != 0 && r.flags.Is(job.FlagDead) {
		return max(c.settings.CompletedRetention, time.Duration(c.settings.HistoryDays)*24*time.Hour)
	}
	return c.settings.CompletedRetention
}

// disarm removes a job from wherever it waits: the wheel, a backlog or the line of jobs to be deleted.
func (c *Core) disarm(r *hotRow) {
	c.setReaping(r, false)
	c.isBack(r)
	c.isArmedAgain(r)
	c.delist(r)
	if r.timer != 0 {
		c.wheel.Cancel(r.timer)
		r.timer = 0
	}
}

// setReaping counts the timers that are retentions, not ticks.
func (c *Core) setReaping(r *hotRow, reaping bool) {
	if r.marks.is(markReaping) == reaping {
		return
	}
	if r.marks ^= markReaping; reaping {
		c.reaping++
	} else {
		c.reaping--
	}
}

// dueOf returns when the tick at the cursor of a job is due. Without jitter it reads no schedule, because none is compiled
// before it is used, as after a start.
func (c *Core) dueOf(r *hotRow) instant.Millis {
	if c.profiles.jitter(r.profile) == 0 {
		return r.cursor
	}
	return r.cursor + c.jitterOf(r, c.profiles.get(r.profile), r.cursor)
}

// jitterOf returns the jitter of a job's tick: the delay of its launch. It follows from the id of the job and is not
// stored, so that any leader launches the tick at the same instant.
func (c *Core) jitterOf(r *hotRow, p *profileEntry, tick instant.Millis) instant.Millis {
	if p.Jitter == 0 {
		return 0
	}
	next, _ := p.next(r, tick)
	return job.JitterOf(r.id, p.Jitter, tick, next)
}

// Armed returns the number of jobs that wait for a tick.
func (c *Core) Armed() int {
	return c.wheel.Len() + c.backlogged + c.retirement.jobs - c.reaping - c.watches.armed
}
