package api

import (
	"context"

	"github.com/carillon-io/carillon/client"
	"github.com/carillon-io/carillon/instant"
	"github.com/carillon-io/carillon/job"
	"github.com/carillon-io/carillon/scheduler"
)

// cancelRun ends a run. The tenant is passed on because a run id alone would let a caller cancel runs of other
// tenants.
func (x *Executor) cancelRun(ctx context.Context, tenant string, q *client.RunRequest) (any, error) {
	id, err := job.ParseRunID(q.RunID)
	if err != nil {
		return nil, err
	}
	return runReply(x.engine.CancelRun(ctx, tenant, id))
}

// retryRun begins another attempt of a dead or cancelled run. The run keeps its id.
func (x *Executor) retryRun(ctx context.Context, tenant string, q *client.RunRequest) (any, error) {
	id, err := job.ParseRunID(q.RunID)
	if err != nil {
		return nil, err
	}
	return runReply(x.engine.RetryRun(ctx, tenant, id))
}

// There is no cursor: what was retried is dead no longer, so the same request again continues by itself.
var retryManyMembers = object[scheduler.RunQuery]{
	"job":   text(func(q *scheduler.RunQuery) *string { return &q.Job }),
	"from":  timeField(func(q *scheduler.RunQuery) *instant.Millis { return &q.From }),
	"to":    timeField(func(q *scheduler.RunQuery) *instant.Millis { return &q.To }),
	"limit": between(1, scheduler.PageMax, func(q *scheduler.RunQuery) *int { return &q.Limit }),
}

// retryMany retries the newest dead runs of a selection. The limit bounds what one request changes; more in the reply
// says that some are left.
func (x *Executor) retryMany(ctx context.Context, tenant string, q *scheduler.RunQuery) (any, error) {
	if err := checkRunQuery(q, true); err != nil {
		return nil, err
	}
	setDefault(&q.Limit, PageDefault)
	q.Tenant, q.Status = tenant, job.StatusDead
	n, more, err := x.engine.RetryDead(ctx, *q)
	if err != nil {
		return nil, aboutJob(err)
	}
	return &client.RetryManyReply{Retried: n, More: more}, nil
}
