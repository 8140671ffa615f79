package core

import (
	"math"

	"github.com/carillon-io/carillon/job"
)

// EventsMaxDefault bounds the notices that wait before events are dropped: four for each run of the largest herd,
// about 600 MB of store.
const EventsMaxDefault = 4_000_000

// announce writes a notice of a run's change of state to the outbox, if it is to be published: a dead run as a dead
// letter, any change as an event. The row is in the commit that makes the change. While too many notices wait, events
// are dropped and counted, because a stream without a reader must not fill the disk. Dead letters are not dropped:
// they are few, and dead runs stay listed in any case. So a crash between the change and its publication loses no
// notice.
func (c *Core) announce(run *job.Run) {
	dead := c.settings.DeadLetters && run.Status == job.StatusDead
	event := c.settings.Events
	if event && c.outbox >= c.settings.EventsMax {
		c.counts.NoticesLost++
		event = false
	}
	if !dead && !event {
		return
	}
	c.out.Batch.PutNotice(&job.Notice{
		ID:   job.NoticeID{LSN: c.lsn, Seq: c.noticeSeq},
		Dead: dead, Event: event, At: c.now, Run: run.ID, Status: run.Status, Reason: run.Reason, Until: run.Until,
		Attempt: run.Attempt, Fence: run.Fence, Error: run.Error, Tenant: c.deleting.tenant, Name: c.deleting.name,
	})
	c.noticeSeq++
	c.outbox++
	c.out.Notices++
}

// published deletes notices that have been published, and then what was kept for them of deleted jobs. Notices are
// published in the order of their LSNs, so none is left before the last of these.
func (c *Core) published(p *Published) {
	from := uint64(0)
	for _, id := range p.IDs {
		c.unit(noticeKeyBytes)
		c.out.Batch.DeleteNotice(id)
		from = id.LSN
	}
	c.outbox -= min(c.outbox, len(p.IDs))
	c.counts.NoticesLost += uint64(p.Lost)
	if c.outbox == 0 {
		from = math.MaxUint64
	}
	c.dropDeleted(from)
}
