package scheduler

import (
	"context"
	"math"

	"github.com/carillon-io/carillon/job"
)

// auditScanMax bounds the entries that one page of the audit log reads. Entries of all tenants are in one order of
// time, so a page of a quiet tenant may read many entries of others.
const auditScanMax = 10_000

// Audit returns a page of the audit log of a tenant, newest first.
func (e *Engine) Audit(_ context.Context, q AuditQuery) (AuditPage, error) {
	l := auditLister{engine: e, query: q}
	days, err := l.days()
	if err != nil {
		return AuditPage{}, err
	}
	for i := 0; i < len(days) && !l.isFull(); i++ {
		if err := l.readDay(days[i]); err != nil {
			return AuditPage{}, err
		}
	}
	if l.isFull() {
		l.page.Next = l.last
	}
	return l.page, nil
}

// auditLister reads the audit log day by day, newest first.
type auditLister struct {
	engine *Engine
	query  AuditQuery
	seen   int
	last   AuditPlace // the last entry that was read
	page   AuditPage
}

func (l *auditLister) isFull() bool {
	return len(l.page.Entries) == l.query.Limit || l.seen >= auditScanMax
}

// days returns the buckets that can hold an entry of the query, newest first.
func (l *auditLister) days() ([]uint32, error) {
	high := uint32(math.MaxUint32)
	if q := &l.query; q.To != 0 {
		high = job.Day(max(0, q.To))
	}
	if after := l.query.After; after != (AuditPlace{}) {
		high = min(high, after.Day)
	}
	return l.engine.daysOf(job.KindAudit, job.Day(max(0, l.query.From)), high)
}

// readDay reads one bucket, newest entry first, until the page is full.
func (l *auditLister) readDay(day uint32) error {
	low := job.AppendBucket(nil, job.KindAudit, day)
	high := job.PrefixEnd(low)
	if after := l.query.After; after.Day == day && after.ID != (job.AuditID{}) {
		low = append(job.AppendAuditKey(nil, day, after.ID), 0)
	}
	return l.engine.opts.Store.Scan(low, high, func(key, value []byte) (bool, error) {
		_, id, err := job.ParseAuditKey(key)
		if err != nil {
			return false, err
		}
		entry, err := job.DecodeAudit(id, value)
		if err != nil {
			return false, err
		}
		l.seen++
		l.last = AuditPlace{Day: day, ID: id}
		if l.wants(&entry) {
			l.page.Entries = append(l.page.Entries, entry)
		}
		return !l.isFull(), nil
	})
}

// wants reports whether an entry matches the query. Zero values of the query match everything.
func (l *auditLister) wants(e *job.AuditEntry) bool {
	q := &l.query
	return e.Tenant == q.Tenant &&
		(q.Name == "" || q.Name == e.Name) &&
		(q.Action == 0 || q.Action == e.Action) &&
		(q.By == "" || q.By == e.Actor.By) &&
		(q.From == 0 || e.At >= q.From) &&
		(q.To == 0 || e.At < q.To)
}
