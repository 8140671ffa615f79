package core

import (
	"github.com/carillon-io/carillon/instant"
	"github.com/carillon-io/carillon/job"
)

// writeJob writes the rows of a job that a put registers or changes, and fills in the results of the put.
func (c *Core) writeJob(p *Put, r *hotRow, s job.Stamp) {
	s.Origin = p.Origin
	c.out.Batch.PutRecord(s, p.Definition)
	c.writeTimer(r)
	p.Stamp, p.Timer, p.NextRun = s, r.timerRow(), nextRun(r)
	c.written[s.ID] = p
}

// writeTimer must follow each change of a row: a standby and the next start know nothing else of it.
func (c *Core) writeTimer(r *hotRow) {
	c.indexState(r)
	c.rows.note(r)
	c.out.Batch.PutTimer(r.id, r.timerRow())
}

// nextRun returns when the schedule of a job next causes a run; 0 if it does not.
func nextRun(r *hotRow) instant.Millis {
	if !r.isActive() {
		return 0
	}
	return r.cursor
}

// comes records that a decided tick becomes a run.
func (p *Put) comes(tick instant.Millis) {
	if tick != 0 && (p.NextRun == 0 || tick < p.NextRun) {
		p.NextRun = tick
	}
}
