package client

import (
	"context"
	"errors"
	"iter"
)

// Put registers a job, or updates the one with the same name. It returns the job, and whether it is new.
// The job is durable when Put returns without an error. Where a credential is [Mask], as [Client.Get]
// returns it, the server keeps the value that it has. It refuses the put if it has no such value, or if
// the target's address changes with it.
func (c *Client) Put(ctx context.Context, j Job) (info JobInfo, created bool, err error) {
	return c.put(ctx, PutRequest{Job: j})
}

// PutIfVersion is [Client.Put] on condition that the job has the given version (see [JobInfo]); 0
// requires that no such job exists. If the condition does not hold, it changes nothing and returns an
// error for which [IsConflict] holds.
func (c *Client) PutIfVersion(ctx context.Context, j Job, version uint32) (info JobInfo, created bool, err error) {
	return c.put(ctx, PutRequest{Job: j, IfVersion: &version})
}

// put carries out Put and PutIfVersion.
func (c *Client) put(ctx context.Context, request PutRequest) (JobInfo, bool, error) {
	reply, err := ask[PutReply](ctx, c, "jobs.put", request)
	return reply.Job, reply.Created, err
}

// PutMany registers jobs in one request, each independently: a refused job has an error in its result
// and does not affect the others. If an earlier try got no answer, that error says so: the job may be registered. The jobs must fit into one NATS message; [Client.PutAll] has no such
// limit.
func (c *Client) PutMany(ctx context.Context, jobs []Job) (reply PutManyReply, err error) {
	body, err := encode(PutManyRequest{Jobs: jobs})
	if err != nil {
		return reply, err
	}
	if err = c.putMany(ctx, body, &reply); err == nil {
		err = reply.check(len(jobs))
	}
	return reply, err
}

// Get returns a job, with [Mask] in place of its credentials. If there is no such job, [IsNotFound]
// holds for the error.
func (c *Client) Get(ctx context.Context, name string) (JobInfo, error) {
	return c.get(ctx, GetRequest{Name: name})
}

// GetWithCredentials is [Client.Get] with the credentials in clear text. A server of the first release
// refuses the request with [CodeUnknownField].
func (c *Client) GetWithCredentials(ctx context.Context, name string) (JobInfo, error) {
	return c.get(ctx, GetRequest{Name: name, WithCredentials: true})
}

// get carries out Get and GetWithCredentials.
func (c *Client) get(ctx context.Context, request GetRequest) (JobInfo, error) {
	reply, err := ask[JobReply](ctx, c, "jobs.get", request)
	return reply.Job, err
}

// List returns one page of jobs, in the order of their names.
func (c *Client) List(ctx context.Context, request ListRequest) (JobPage, error) {
	return ask[JobPage](ctx, c, "jobs.list", request)
}

// Jobs iterates over all jobs that a request selects, page after page; its Limit is the size of a page.
// An error ends the iteration; it comes with a zero job.
func (c *Client) Jobs(ctx context.Context, request ListRequest) iter.Seq2[JobInfo, error] {
	return pages(request.Cursor, func(cursor string) ([]JobInfo, string, error) {
		request.Cursor = cursor
		page, err := c.List(ctx, request)
		return page.Jobs, page.NextCursor, err
	})
}

// errCursorStays ends a list that would never end.
var errCursorStays = errors.New("client: the server gives the cursor of this page as that of the next one, so the list would never end; it is cut off here")

// pages iterates over the elements of all pages of a list.
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
			if after == next {
				var none T
				yield(none, errCursorStays)
				return
			}
			next = after
		}
	}
}

// Delete deletes a job, and returns what became of its runs. Runs that wait are cancelled; targets may
// finish runs that are in progress.
func (c *Client) Delete(ctx context.Context, name string) (DeletedRuns, error) {
	return c.delete(ctx, DeleteRequest{Name: name})
}

// DeleteIfVersion is [Client.Delete] on condition that the job has the given version, as in
// [Client.PauseIfVersion].
func (c *Client) DeleteIfVersion(ctx context.Context, name string, version uint32) (DeletedRuns, error) {
	return c.delete(ctx, DeleteRequest{Name: name, IfVersion: &version})
}

// delete carries out Delete and DeleteIfVersion.
func (c *Client) delete(ctx context.Context, request DeleteRequest) (DeletedRuns, error) {
	reply, err := ask[DeleteReply](ctx, c, "jobs.delete", request)
	return reply.Runs, err
}

// Pause stops the ticks of a job. The job then shows the reason.
func (c *Client) Pause(ctx context.Context, name, reason string) (JobInfo, error) {
	return c.pause(ctx, "jobs.pause", PauseRequest{Name: name, Reason: reason})
}

// PauseIfVersion is [Client.Pause] on condition that the job has the given version (see [JobInfo]); 0 is
// refused. If the condition does not hold, it changes nothing and returns an error for which
// [IsConflict] holds. The client does not repeat it if no answer comes, because the first request may
// have changed the version.
func (c *Client) PauseIfVersion(ctx context.Context, name, reason string, version uint32) (JobInfo, error) {
	return c.pause(ctx, "jobs.pause", PauseRequest{Name: name, Reason: reason, IfVersion: &version})
}

// Resume starts the ticks of a paused job again. The job's missed-run policy decides about the ticks
// that passed meanwhile.
func (c *Client) Resume(ctx context.Context, name, reason string) (JobInfo, error) {
	return c.pause(ctx, "jobs.resume", PauseRequest{Name: name, Reason: reason})
}

// ResumeIfVersion is [Client.Resume] on condition that the job has the given version, as in
// [Client.PauseIfVersion].
func (c *Client) ResumeIfVersion(ctx context.Context, name, reason string, version uint32) (JobInfo, error) {
	return c.pause(ctx, "jobs.resume", PauseRequest{Name: name, Reason: reason, IfVersion: &version})
}

// pause carries out pause and resume, with and without a condition.
func (c *Client) pause(ctx context.Context, verb string, request PauseRequest) (JobInfo, error) {
	reply, err := ask[JobReply](ctx, c, verb, request)
	return reply.Job, err
}
