package scheduler

import (
	"github.com/carillon-io/carillon/job"
)

// outboxMax bounds the notices that wait to be published. Beyond it events are dropped, and counted: a
// stream that nobody reads must not fill the disk. Dead letters are not dropped: they are few, and the
// runs stay listed in any case.
const outboxMax = 100_000

// announce puts a run's change of state into the outbox, if somebody is to know: of a dead run because
// of dead letters, of any because of events. The row goes with the commit that makes the change.
func (c *Core) announce(run *job.Run) {
	dead := c.settings.DeadLetters && run.Status == job.StatusDead
	event := c.settings.Events
	if event && c.outbox >= outboxMax {
		c.counts.NoticesLost++
		event = false
	}
	if !dead && !event {
		return
	}
	c.out.Batch.PutNotice(&job.Notice{
		ID:   job.NoticeID{LSN: c.lsn, Seq: c.noticeSeq},
		Dead: dead, Event: event, At: c.now, Run: run.ID, Status: run.Status, Reason: run.Reason, Until: run.Until,
		Attempt: run.Attempt, Fence: run.Fence, Error: run.Error, Tenant: c.doomed.tenant, Name: c.doomed.name,
	})
	c.noticeSeq++
	c.outbox++
	c.out.Notices++
}

// published drops notices that the world outside has.
func (c *Core) published(p *Published) {
	for _, id := range p.IDs {
		c.unit(noticeKeyBytes)
		c.out.Batch.DeleteNotice(id)
	}
	c.outbox -= min(c.outbox, len(p.IDs))
}
