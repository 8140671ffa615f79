package scheduler

import (
	"github.com/carillon-io/carillon/job"
	"github.com/carillon-io/carillon/wheel"
)

// decideChunk is how many timers are taken off the wheel at a time.
const decideChunk = 256

// decideDue decides the ticks that come due within the lead, as many as fit the commit and the room.
// What does not fit goes into the backlog, and is decided by the next steps.
func (c *Core) decideDue() {
	to := max(c.wheel.Now(), wheel.Tick(c.now.Add(c.settings.Lead)))
	budget := c.decisionsMax
	if c.backlog.Len() > 0 {
		if budget = c.decideInTurns(to, budget); c.backlog.Len() > 0 {
			return
		}
	}
	if !c.decideInOrder(to, budget) {
		c.takeDue(to, backlogTakesMax)
	}
}

// decideInOrder decides ticks as they come off the wheel. It returns false if the step is full before
// all are decided.
func (c *Core) decideInOrder(to wheel.Tick, budget int) (all bool) {
	for budget > 0 && c.fits() {
		c.due = c.due[:0]
		fired, done := c.wheel.Advance(to, min(budget, decideChunk, c.room), c.collect)
		budget -= fired
		for _, s := range c.due {
			r := c.rows.row(s)
			r.timer = 0
			if !c.fits() {
				c.enlist(s, r)
				continue
			}
			c.decide(s, r)
			c.arm(s, r)
		}
		if fired == 0 {
			return done
		}
	}
	return false
}

func (c *Core) fits() bool {
	return c.room > 0 && c.out.Batch.Size() < CommitBytesMax-decisionBytesMax
}

func (c *Core) collect(id uint64, _ wheel.Tick) { c.due = append(c.due, slot(id)) }

// decide settles the tick at the cursor of a job and moves the cursor on. Late and on time are one
// path: what differs is only how far back the tick lies.
func (c *Core) decide(s slot, r *hotRow) {
	if r.flags.Is(job.FlagCompleted) {
		c.reap(r)
		return
	}
	p := c.profiles.get(r.profile)
	if p.err != nil {
		c.poison(r, p.err)
		return
	}
	grace := c.now - job.Millis(c.settings.Grace.Milliseconds())
	if r.cursor >= grace {
		c.fire(s, r, r.cursor, ModeSkip)
		c.moveOn(r, p, r.cursor)
	} else {
		c.catchUp(s, r, p, grace-1)
	}
	c.writeTimer(r)
}

// moveOn puts the cursor behind a tick that is decided, together with all before it.
func (c *Core) moveOn(r *hotRow, p *profileEntry, decided job.Millis) {
	next, ok := p.next(r, decided)
	if !ok || p.MaxRuns > 0 && r.runs >= p.MaxRuns {
		r.flags |= job.FlagCompleted
		next = decided + 1
	}
	r.cursor = next
}

// fire decides that a tick becomes a run. Was it decided before, as an update may have left it, then
// it stays as it was.
func (c *Core) fire(s slot, r *hotRow, at job.Millis, mode Mode) {
	id := job.RunID{Job: r.id, At: at}
	if _, live := c.live[id]; live {
		return
	}
	r.runs++
	r.last = at
	r.flags &^= job.FlagLastManual
	c.counts.Fired++
	c.start(s, &job.Run{ID: id, Due: at}, mode)
}

// poison stops a job whose schedule cannot be evaluated, and tells why. Nothing else is touched.
func (c *Core) poison(r *hotRow, err error) {
	r.flags |= job.FlagFailed
	c.writeTimer(r)
	c.out.Batch.PutNote(r.id, job.Note{At: c.now, Reason: err.Error()})
}

// reap asks for the deletion of a job that was completed long enough ago. The cursor of a completed
// job is behind its last tick, so the wheel brings it back only at the end of its retention.
func (c *Core) reap(r *hotRow) {
	c.out.Reap = append(c.out.Reap, Reap{ID: r.id, Version: r.version})
}
