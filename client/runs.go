package client

import (
	"context"
	"iter"
)

// Trigger fires a run of a job now, even if the job is paused. With an idempotency key it may be
// repeated: within a day, the same key returns the first run and fires no other.
func (c *Client) Trigger(ctx context.Context, request TriggerRequest) (Run, error) {
	reply, err := ask[RunReply](ctx, c, "jobs.trigger", request)
	return reply.Run, err
}

// Backfill fires a run of a job for each tick of a past range for which no run was fired, and returns
// their number. A second Backfill leaves out the ticks of the first, unless Repeat is set.
func (c *Client) Backfill(ctx context.Context, request BackfillRequest) (int, error) {
	reply, err := c.BackfillTicks(ctx, request)
	return reply.Runs, err
}

// BackfillTicks is [Client.Backfill] with the whole reply: the number of ticks left out and, with
// DryRun, the list of ticks.
func (c *Client) BackfillTicks(ctx context.Context, request BackfillRequest) (BackfillReply, error) {
	return ask[BackfillReply](ctx, c, "jobs.backfill", request)
}

// Run returns a run with its attempts.
func (c *Client) Run(ctx context.Context, runID string) (Run, error) {
	reply, err := ask[RunReply](ctx, c, "runs.get", RunRequest{RunID: runID})
	return reply.Run, err
}

// ListRuns returns one page of runs, newest scheduled time first.
func (c *Client) ListRuns(ctx context.Context, request RunListRequest) (RunPage, error) {
	return ask[RunPage](ctx, c, "runs.list", request)
}

// Runs iterates over all runs that a request selects, as [Client.Jobs] does over jobs.
func (c *Client) Runs(ctx context.Context, request RunListRequest) iter.Seq2[Run, error] {
	return pages(request.Cursor, func(cursor string) ([]Run, string, error) {
		request.Cursor = cursor
		page, err := c.ListRuns(ctx, request)
		return page.Runs, page.NextCursor, err
	})
}

// Next returns the next ticks of a schedule, and the effect of clock changes on them.
func (c *Client) Next(ctx context.Context, request NextRequest) (NextReply, error) {
	return ask[NextReply](ctx, c, "schedules.next", request)
}

// Status returns the state and the counts of the leader, or with [Options].Standby of a standby.
func (c *Client) Status(ctx context.Context) (Status, error) {
	return ask[Status](ctx, c, "status", StatusRequest{})
}
