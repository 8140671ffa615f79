package client

import (
	"context"
	"time"
)

// Report tells what became of a run that was given to a worker, with the fence that it was given with.
// A run that was given to another attempt meanwhile refuses it with [CodeStaleFence].
func (c *Client) Report(ctx context.Context, request ReportRequest) (Run, error) {
	reply, err := ask[RunReply](ctx, c, "runs.report", request)
	return reply.Run, err
}

// Extend lets a worker report later: within by from now. It returns the new deadline.
func (c *Client) Extend(ctx context.Context, runID string, fence uint64, by time.Duration) (Time, error) {
	reply, err := ask[ExtendReply](ctx, c, "runs.extend", ExtendRequest{RunID: runID, Fence: fence, By: Duration(by)})
	return reply.Deadline, err
}

// CancelRun ends a run that is not over.
func (c *Client) CancelRun(ctx context.Context, runID string) (Run, error) {
	reply, err := ask[RunReply](ctx, c, "runs.cancel", RunRequest{RunID: runID})
	return reply.Run, err
}

// RetryRun lets a run that is dead or was cancelled begin another attempt, under the same run id.
func (c *Client) RetryRun(ctx context.Context, runID string) (Run, error) {
	reply, err := ask[RunReply](ctx, c, "runs.retry", RunRequest{RunID: runID})
	return reply.Run, err
}

// RetryMany lets the newest dead runs of a selection begin another attempt.
func (c *Client) RetryMany(ctx context.Context, request RetryManyRequest) (RetryManyReply, error) {
	return ask[RetryManyReply](ctx, c, "runs.retry_many", request)
}

// RetryAll is [Client.RetryMany] for all of a selection, request after request of at most Limit runs
// each. It calls each, which may be nil, with the number of runs so far, and returns the last.
//
// It goes through the selection once, from the newest run to the oldest. A run that is dead again by
// then is left alone, so that it ends even if targets fail at once.
func (c *Client) RetryAll(ctx context.Context, request RetryManyRequest, each func(retried int)) (int, error) {
	list := RunListRequest{Job: request.Job, From: request.From, To: request.To, Status: "dead", Limit: request.Limit}
	total := 0
	for {
		page, err := c.ListRuns(ctx, list)
		if err != nil {
			return total, err
		}
		if n := len(page.Runs); n > 0 {
			// The runs of the page, newest first, and whatever else is as old as they are.
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
