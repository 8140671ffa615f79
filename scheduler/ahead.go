package scheduler

import "github.com/carillon-io/carillon/job"

// Ticks are decided ahead of their time, and an update must not decide one of them again. Mostly the
// cursor tells: the ticks of the old schedule before it are decided. But when an update drops a tick
// that is decided and still to come, and another update brings the tick back, the schedule between the
// two does not have it. Those few are remembered until their time has passed.

// aheadMemory holds, for some jobs, the last tick that is decided although it is yet to come.
type aheadMemory struct {
	ticks map[job.ID]job.Millis
	// loaded is the instant up to which ticks may have been decided before the core began to lead.
	loaded job.Millis
	// sweepAt is how many entries cause the next look for those that have passed.
	sweepAt int
}

// aheadSweepMin is how many entries are not worth a look.
const aheadSweepMin = 64

func newAheadMemory() aheadMemory {
	return aheadMemory{ticks: make(map[job.ID]job.Millis), sweepAt: aheadSweepMin}
}

func (m *aheadMemory) add(run job.RunID, now job.Millis) {
	if !run.IsManual() && run.At > now {
		m.ticks[run.Job] = max(m.ticks[run.Job], run.At)
	}
}

// forget drops what has passed, once it is about half of the memory: what has passed does no harm. The
// memory spans one lead.
func (m *aheadMemory) forget(passed job.Millis) {
	if len(m.ticks) < m.sweepAt {
		return
	}
	for id, at := range m.ticks {
		if at <= passed {
			delete(m.ticks, id)
		}
	}
	m.sweepAt = max(aheadSweepMin, 2*len(m.ticks))
}

// decidedAhead returns an instant that no decided tick of a job lies behind, and that is not before
// now: a new schedule begins after it.
func (c *Core) decidedAhead(r *hotRow, old *profileEntry) job.Millis {
	after := max(c.now, c.ahead.ticks[r.id], r.last)
	if r.flags.Is(job.FlagLastManual) && c.now < c.ahead.loaded {
		after = max(after, c.ahead.loaded)
	}
	if r.flags.Is(job.FlagCompleted) {
		return max(after, r.cursor-1)
	}
	if old.schedule == nil {
		return after
	}
	if t, ok := old.schedule.Latest(c.now, r.cursor-1, r.cursor); ok {
		after = max(after, t)
	}
	return after
}
