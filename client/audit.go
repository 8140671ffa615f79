package client

import (
	"context"
	"iter"
)

// AuditEntry records one change: who changed which job or calendar, how, when and by which way.
type AuditEntry struct {
	ID      string `json:"id"` // unique; made of the LSN of the change's commit, its number within the commit and, in a cluster of several shards, the shard
	At      Time   `json:"at"`
	By      string `json:"by"`                   // the caller as the server has recognized it, such as token:ci; on a server without rights the name in [Options].By; "" if there is none
	Claimed string `json:"claimed_by,omitempty"` // what a caller that the server has recognized says about itself
	From    string `json:"from"`                 // how the request arrived: nats, http, dashboard, local; "" for a change that the server made itself
	Action  string `json:"action"`               // create, update, delete, pause, resume, trigger, backfill, cancel_run, retry_run, put_calendar, delete_calendar, dismiss_run, hand_over, move_shard, drain_node, keep_node, remove_node
	Name    string `json:"name"`                 // name of the job or the calendar
	JobID   string `json:"job_id"`               // id of the job; "" for a calendar
	Detail  string `json:"detail"`               // for example the reason of a pause, the id of a run, the range of a backfill

	// Before and After are the job's definition, without its payload, before and after a change of it;
	// nil for other actions.
	Before *Job `json:"before,omitzero"`
	After  *Job `json:"after,omitzero"`
}

// AuditRequest selects entries of the audit log, newest first. All filters must match; zero values select
// everything.
type AuditRequest struct {
	Name   string `json:"name,omitempty"`   // name of a job or a calendar; "" selects all
	Action string `json:"action,omitempty"` // as in [AuditEntry]
	By     string `json:"by,omitempty"`     // as in [AuditEntry]
	From   Time   `json:"from,omitzero"`    // at or after
	To     Time   `json:"to,omitzero"`      // before
	Limit  int    `json:"limit,omitzero"`   // 1 to 1000; default 100
	Cursor string `json:"cursor,omitempty"` // of the page before

	Partial bool `json:"partial,omitzero"` // as in [ListRequest]
}

// AuditPage is one page of the audit log. As with [JobPage], a page may be short or empty before the
// end.
type AuditPage struct {
	Entries       []AuditEntry `json:"entries"`
	NextCursor    string       `json:"next_cursor,omitempty"`
	MissingShards []uint32     `json:"missing_shards,omitempty"` // as in [JobPage]
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
