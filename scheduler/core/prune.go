package core

import (
	"github.com/carillon-io/carillon/instant"
	"github.com/carillon-io/carillon/job"
)

// payloadDays is how much longer than the history the payloads of manual runs are kept. A live run may be older than
// the history, if it waits long for its turn or was retried on its last day.
const payloadDays = 30

// prune deletes the buckets of the history that are too old, once a day. Whole buckets are deleted as ranges, so the
// commit is small however many runs they hold.
func (c *Core) prune() {
	keep := instant.Millis(c.settings.HistoryDays) * 24 * 60 * 60 * 1000
	if keep == 0 || c.now <= keep {
		return
	}
	day := job.Day(c.now - keep)
	if day <= c.prunedDay {
		return
	}
	c.unit(pruneBytes)
	// From the first bucket on, because a backfill may have put runs into a bucket that was already deleted.
	for _, kind := range []job.Kind{job.KindHistory, job.KindDead, job.KindAudit} {
		c.out.Batch.DeleteRange(job.AppendBucket(nil, kind, 0), job.AppendBucket(nil, kind, day))
	}
	if day > payloadDays {
		c.out.Batch.DeleteRange(job.AppendBucket(nil, job.KindRunPayload, 0), job.AppendBucket(nil, job.KindRunPayload, day-payloadDays))
	}
	c.out.Batch.DeleteRange(job.AppendBucket(nil, job.KindOnce, 0), job.AppendBucket(nil, job.KindOnce, job.Day(c.now)-OnceDays))
	c.out.Batch.PutMeta(metaPrunedDay, uint64(day))
	c.prunedDay = day
}
