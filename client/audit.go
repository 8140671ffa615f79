package client

import (
	"context"
	"iter"
)

// AuditEntry says who did what to which job, when and from where.
type AuditEntry struct {
	ID     string `json:"id"` // of the commit that made the change, and its number within
	At     Time   `json:"at"`
	By     string `json:"by"`     // who asked, as [Options] has it; "" if nobody gave a name
	From   string `json:"from"`   // the way it came: nats, http, dashboard, local; "" for what the server does by itself
	Action string `json:"action"` // create, update, delete, pause, resume, trigger, backfill, cancel_run, retry_run, put_calendar, delete_calendar
	Name   string `json:"name"`   // of the job or the calendar
	JobID  string `json:"job_id"` // "" for a calendar
	Detail string `json:"detail"` // the reason of a pause, the id of a run, the range of a backfill

	// Before and After are the job, without its payload, before and after a change of its definition.
	Before *Job `json:"before,omitzero"`
	After  *Job `json:"after,omitzero"`
}

// AuditRequest selects entries of the audit log, newest first.
type AuditRequest struct {
	Name   string `json:"name,omitempty"`   // of a job or a calendar
	Action string `json:"action,omitempty"` // as in [AuditEntry]
	By     string `json:"by,omitempty"`
	From   Time   `json:"from,omitzero"`    // at or after
	To     Time   `json:"to,omitzero"`      // before
	Limit  int    `json:"limit,omitzero"`   // 1 to 1000; default 100
	Cursor string `json:"cursor,omitempty"` // of the page before
}

// AuditPage is one page of the audit log, with the rule of [JobPage].
type AuditPage struct {
	Entries    []AuditEntry `json:"entries"`
	NextCursor string       `json:"next_cursor,omitempty"`
}

// ListAudit returns one page of the audit log, newest first.
func (c *Client) ListAudit(ctx context.Context, request AuditRequest) (AuditPage, error) {
	return ask[AuditPage](ctx, c, "audit.list", request)
}

// Audit iterates over all entries that a request selects, as [Client.Jobs] does over jobs.
func (c *Client) Audit(ctx context.Context, request AuditRequest) iter.Seq2[AuditEntry, error] {
	return pages(request.Cursor, func(cursor string) ([]AuditEntry, string, error) {
		request.Cursor = cursor
		page, err := c.ListAudit(ctx, request)
		return page.Entries, page.NextCursor, err
	})
}
