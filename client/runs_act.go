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
	return c.eachPart(ctx, request, each, func(part RetryManyRequest) (int, error) {
		reply, err := c.RetryMany(ctx, part)
		return reply.Retried, err
	})
}

// Dismiss marks a dead run as dealt with: the server keeps it, and no longer lists it as dead. A run that is dismissed
// already stays as it is.
func (c *Client) Dismiss(ctx context.Context, request DismissRequest) (Run, error) {
	reply, err := ask[RunReply](ctx, c, "runs.dismiss", request)
	return reply.Run, err
}

// DismissMany dismisses the newest dead runs that match the request.
func (c *Client) DismissMany(ctx context.Context, request DismissManyRequest) (DismissManyReply, error) {
	return ask[DismissManyReply](ctx, c, "runs.dismiss_many", request)
}

// DismissAll is [Client.DismissMany] for all dead runs that match, with requests of at most Limit runs each. After each
// request it calls each, which may be nil, with the number of runs so far. It returns the total. It visits the matching
// runs once, from the newest to the oldest.
func (c *Client) DismissAll(ctx context.Context, request DismissManyRequest, each func(dismissed int)) (int, error) {
	all := RetryManyRequest{Job: request.Job, From: request.From, To: request.To, Limit: request.Limit}
	return c.eachPart(ctx, all, each, func(part RetryManyRequest) (int, error) {
		reply, err := c.DismissMany(ctx, DismissManyRequest{Job: part.Job, From: part.From, To: part.To, Limit: part.Limit, Reason: request.Reason})
		return reply.Dismissed, err
	})
}

// eachPart visits the dead runs that match, from the newest to the oldest, and changes them in parts of at most Limit
// runs. It returns how many change has changed.
func (c *Client) eachPart(ctx context.Context, request RetryManyRequest, each func(changed int), change func(part RetryManyRequest) (int, error)) (int, error) {
	list := RunListRequest{Job: request.Job, From: request.From, To: request.To, Status: "dead", Limit: request.Limit}
	total := 0
	for {
		page, err := c.ListRuns(ctx, list)
		if err != nil {
			return total, err
		}
		if n := len(page.Runs); n > 0 {
			// Change the runs of the page, newest first; the request also matches other runs of these times.
			part := RetryManyRequest{Job: request.Job, From: page.Runs[n-1].ScheduledAt, Limit: n}
			part.To = At(page.Runs[0].ScheduledAt.Add(time.Millisecond))
			done, err := change(part)
			if total += done; err != nil {
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
