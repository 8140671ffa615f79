package api

import (
	"context"
	"strconv"
	"strings"

	"github.com/carillon-io/carillon/instant"
	"github.com/carillon-io/carillon/job"
	"github.com/carillon-io/carillon/scheduler"
)

// auditRequest is the query, with the cursor from which it continues.
type auditRequest struct {
	scheduler.AuditQuery
	cursor string
	// isPartial is for a router; one shard alone has no parts.
	isPartial bool
}

// asked returns what a cursor of the list belongs to.
func (q *auditRequest) asked() query {
	return query{"audit", q.Tenant, q.Name, q.Action.String(), q.By, q.From.String(), q.To.String()}
}

// auditMembers has each filter of the query; each is also part of the cursor's query in audit.
var auditMembers = object[auditRequest]{
	"name":   text(func(q *auditRequest) *string { return &q.Name }),
	"action": word(job.ParseAction, func(q *auditRequest) *job.Action { return &q.Action }),
	"by":     text(func(q *auditRequest) *string { return &q.By }),
	"from":   timeField(func(q *auditRequest) *instant.Millis { return &q.From }),
	"to":     timeField(func(q *auditRequest) *instant.Millis { return &q.To }),
	"limit":  between(1, scheduler.PageMax, func(q *auditRequest) *int { return &q.Limit }),
	"cursor": text(func(q *auditRequest) *string { return &q.cursor }),

	"partial": boolean(func(q *auditRequest) *bool { return &q.isPartial }),
}

// audit lists entries of the audit log, newest first. A page may end before its limit; only an empty next_cursor
// means the end.
func (x *Executor) audit(ctx context.Context, tenant string, q *auditRequest) (any, error) {
	if err := checkAudit(q); err != nil {
		return nil, err
	}
	setDefault(&q.Limit, PageDefault)
	// The tenant is that of the subject, and no member could name another one.
	q.Tenant = tenant
	sees, err := x.sightOf(ctx, tenant, false)
	if err != nil {
		return nil, err
	}
	page := &auditPage{query: q.asked()}
	key, err := page.query.key(q.cursor)
	if err == nil && key != "" {
		q.After, err = parseAuditPlace(key)
	}
	if err != nil {
		return nil, err
	}
	next := func(n int) ([]auditEntry, bool, error) {
		// A copy, since the limit of the request stays what the caller asked for.
		asked := q.AuditQuery
		asked.Limit = n
		got, err := x.engine.Audit(ctx, asked)
		if err != nil {
			return nil, false, err
		}
		q.After = got.Next
		// The definitions are encoded here and not at the end, because their sizes decide whether the page goes on.
		entries, err := x.auditEntriesOf(got.Entries, sees)
		return entries, got.Next != (scheduler.AuditPlace{}), err
	}
	var more bool
	if page.Entries, more, err = fill(q.Limit, auditStep, x.pageBytesFor(ctx), next, (*auditEntry).bytes); err != nil {
		return nil, err
	}
	// The place is that after the last entry that was read, which is in the page unless encode shrinks it; then
	// shrink makes another cursor.
	if more {
		page.NextCursor = page.query.cursor(auditKey(q.After))
	}
	return page, nil
}

// checkAudit checks a filter, so that a misspelled one is an error and not an empty list.
func checkAudit(q *auditRequest) error {
	if q.Name != "" {
		if err := job.ValidateName(q.Name); err != nil {
			return err
		}
	}
	if err := (job.Actor{By: q.By}).Validate(); err != nil {
		return err
	}
	return checkRange(q.From, q.To)
}

// parseAuditPlace is the inverse of auditKey. A cursor has a checksum, but any caller can compute one, so the key is
// validated too.
func parseAuditPlace(key string) (p scheduler.AuditPlace, err error) {
	parts := strings.Split(key, "-")
	if len(parts) == 3 {
		day, err1 := strconv.ParseUint(parts[0], 10, 32)
		lsn, err2 := strconv.ParseUint(parts[1], 10, 64)
		seq, err3 := strconv.ParseUint(parts[2], 10, 32)
		if err1 == nil && err2 == nil && err3 == nil {
			return scheduler.AuditPlace{Day: uint32(day), ID: job.AuditID{LSN: lsn, Seq: uint32(seq)}}, nil
		}
	}
	return p, errCursor()
}
