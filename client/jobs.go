package client

import (
	"context"
	"iter"
)

// Put registers a job, or updates the one of its name. It tells whether the job is new. The job is
// durable when Put returns. A credential that is [Mask], as [Client.Get] returns it, keeps the value that the
// server has; without one, or with a target elsewhere, the put is refused.
func (c *Client) Put(ctx context.Context, j Job) (info JobInfo, created bool, err error) {
	return c.put(ctx, PutRequest{Job: j})
}

// PutIfVersion is [Client.Put] if the job is at that version, which a [JobInfo] has; 0 demands that
// there is no such job. Otherwise the error is a conflict; see [IsConflict].
func (c *Client) PutIfVersion(ctx context.Context, j Job, version uint32) (info JobInfo, created bool, err error) {
	return c.put(ctx, PutRequest{Job: j, IfVersion: &version})
}

func (c *Client) put(ctx context.Context, request PutRequest) (JobInfo, bool, error) {
	reply, err := ask[PutReply](ctx, c, "jobs.put", request)
	return reply.Job, reply.Created, err
}

// PutMany registers jobs in one request, each by itself: one that is refused has an error in its
// result and touches no other. The jobs must fit one NATS message; [Client.PutAll] has no such limit.
func (c *Client) PutMany(ctx context.Context, jobs []Job) (reply PutManyReply, err error) {
	body, err := encode(PutManyRequest{Jobs: jobs})
	if err != nil {
		return reply, err
	}
	err = c.exchange(ctx, c.bulkCall(body), &reply)
	return reply, err
}

// Get returns a job, with [Mask] in the place of its credentials; an unknown one is an error for which
// [IsNotFound] holds.
func (c *Client) Get(ctx context.Context, name string) (JobInfo, error) {
	return c.get(ctx, GetRequest{Name: name})
}

// GetWithCredentials is [Client.Get] with the credentials in clear. A server of the first release refuses the
// request as one with an unknown member, [CodeUnknownField].
func (c *Client) GetWithCredentials(ctx context.Context, name string) (JobInfo, error) {
	return c.get(ctx, GetRequest{Name: name, WithCredentials: true})
}

func (c *Client) get(ctx context.Context, request GetRequest) (JobInfo, error) {
	reply, err := ask[JobReply](ctx, c, "jobs.get", request)
	return reply.Job, err
}

// List returns one page of jobs, in the order of their names.
func (c *Client) List(ctx context.Context, request ListRequest) (JobPage, error) {
	return ask[JobPage](ctx, c, "jobs.list", request)
}

// Jobs iterates over all jobs that a request selects, page after page; its Limit is the size of a
// page. After an error, which comes with a zero job, it ends.
func (c *Client) Jobs(ctx context.Context, request ListRequest) iter.Seq2[JobInfo, error] {
	return pages(request.Cursor, func(cursor string) ([]JobInfo, string, error) {
		request.Cursor = cursor
		page, err := c.List(ctx, request)
		return page.Jobs, page.NextCursor, err
	})
}

// pages iterates over what the pages of a list hold.
func pages[T any](cursor string, fetch func(cursor string) ([]T, string, error)) iter.Seq2[T, error] {
	return func(yield func(T, error) bool) {
		for next := cursor; ; {
			items, after, err := fetch(next)
			if err != nil {
				var none T
				yield(none, err)
				return
			}
			for i := range items {
				if !yield(items[i], nil) {
					return
				}
			}
			if after == "" {
				return
			}
			next = after
		}
	}
}

// Delete forgets a job, and tells what became of its runs. What waits for its time is withdrawn; what
// targets have in hand they may finish.
func (c *Client) Delete(ctx context.Context, name string) (DeletedRuns, error) {
	return c.delete(ctx, DeleteRequest{Name: name})
}

// DeleteIfVersion is [Client.Delete] if the job is at that version, as for [Client.PauseIfVersion].
func (c *Client) DeleteIfVersion(ctx context.Context, name string, version uint32) (DeletedRuns, error) {
	return c.delete(ctx, DeleteRequest{Name: name, IfVersion: &version})
}

func (c *Client) delete(ctx context.Context, request DeleteRequest) (DeletedRuns, error) {
	reply, err := ask[DeleteReply](ctx, c, "jobs.delete", request)
	return reply.Runs, err
}

// Pause stops the ticks of a job, for a reason that the job then shows.
func (c *Client) Pause(ctx context.Context, name, reason string) (JobInfo, error) {
	return c.pause(ctx, "jobs.pause", PauseRequest{Name: name, Reason: reason})
}

// PauseIfVersion is [Client.Pause] if the job is at that version, which a [JobInfo] has; 0 is refused.
// Otherwise nothing changes, and the error is a conflict; see [IsConflict]. It is not sent again if no answer
// comes: the second could meet the version that the first made.
func (c *Client) PauseIfVersion(ctx context.Context, name, reason string, version uint32) (JobInfo, error) {
	return c.pause(ctx, "jobs.pause", PauseRequest{Name: name, Reason: reason, IfVersion: &version})
}

// Resume lets the ticks of a paused job go on. Its policy for missed runs decides those that passed.
func (c *Client) Resume(ctx context.Context, name, reason string) (JobInfo, error) {
	return c.pause(ctx, "jobs.resume", PauseRequest{Name: name, Reason: reason})
}

// ResumeIfVersion is [Client.Resume] if the job is at that version, as for [Client.PauseIfVersion].
func (c *Client) ResumeIfVersion(ctx context.Context, name, reason string, version uint32) (JobInfo, error) {
	return c.pause(ctx, "jobs.resume", PauseRequest{Name: name, Reason: reason, IfVersion: &version})
}

func (c *Client) pause(ctx context.Context, verb string, request PauseRequest) (JobInfo, error) {
	reply, err := ask[JobReply](ctx, c, verb, request)
	return reply.Job, err
}
