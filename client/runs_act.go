package client

import (
	"context"
	"time"
)

// Report reports the outcome of a run for its worker, with the fence of the worker's attempt. If a later
// attempt has begun meanwhile, the server refuses it with [CodeStaleFence].
func (c *Client) Report(ctx context.Context, request ReportRequest) (Run, error) {
	reply, err := ask[RunReply](ctx, c, "runs.report", request)
	return reply.Run, err
}

// Extend gives a worker more time for its report: by, counted from now. It returns the new deadline.
func (c *Client) Extend(ctx context.Context, runID string, fence uint64, by time.Duration) (Time, error) {
	reply, err := ask[ExtendReply](ctx, c, "runs.extend", ExtendRequest{RunID: runID, Fence: fence, By: Duration(by)})
	return reply.Deadline, err
}

// CancelRun cancels a run that is not finished. Its target may have received it already.
func (c *Client) CancelRun(ctx context.Context, runID string) (Run, error) {
	reply, err := ask[RunReply](ctx, c, "runs.cancel", RunRequest{RunID: runID})
	return reply.Run, err
}

// RetryRun begins another attempt of a run that is dead or cancelled, under the same run id.
func (c *Client) RetryRun(ctx context.Context, runID string) (Run, error) {
	reply, err := ask[RunReply](ctx, c, "runs.retry", RunRequest{RunID: runID})
	return reply.Run, err
}

// RetryMany begins another attempt of the newest dead runs that match the request.
func (c *Client) RetryMany(ctx context.Context, request RetryManyRequest) (RetryManyReply, error) {
	return ask[RetryManyReply](ctx, c, "runs.retry_many", request)
}

// RetryAll is [Client.RetryMany] for all dead runs that match, with requests of at most Limit runs each.
// After each request it calls each, which may be nil, with the number of runs so far. It returns the
// total.
//
// It visits the matching runs once, from the newest to the oldest. It does not retry a run that is dead
// again, so it ends even if the target fails every attempt at once.
func (c *Client) RetryAll(ctx context.Context, request RetryManyRequest, each func(retried int)) (int, error) {
	list := RunListRequest{Job: request.Job, From: request.From, To: request.To, Status: "dead", Limit: request.Limit}
	total := 0
	for {
		page, err := c.ListRuns(ctx, list)
		if err != nil {
			return total, err
		}
		if n := len(page.Runs); n > 0 {
			// Retry the runs of the page, newest first; the request also matches other runs of these times.
			part := RetryManyRequest{Job: request.Job, From: page.Runs[n-1].ScheduledAt, Limit: n}
			part.To = At(page.Runs[0].ScheduledAt.Add(time.Millisecond))
			reply, err := c.RetryMany(ctx, part)
			if total += reply.Retried; err != nil {
				return total, err
			}
			if each != nil {
				each(total)
			}
		}
		if page.NextCursor == "" {
			return total, nil
		}
		list.Cursor = page.NextCursor
	}
}
