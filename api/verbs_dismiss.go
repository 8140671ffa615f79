package api

import (
	"context"

	"github.com/carillon-io/carillon/client"
	"github.com/carillon-io/carillon/instant"
	"github.com/carillon-io/carillon/job"
	"github.com/carillon-io/carillon/scheduler"
)

var dismissMembers = object[client.DismissRequest]{
	"run_id": text(func(q *client.DismissRequest) *string { return &q.RunID }),
	"reason": text(func(q *client.DismissRequest) *string { return &q.Reason }),
}

// dismissRun marks a dead run as dealt with. The reason is shown with the run.
func (x *Executor) dismissRun(ctx context.Context, tenant string, q *client.DismissRequest) (any, error) {
	id, err := job.ParseRunID(q.RunID)
	if err == nil {
		err = checkReason(q.Reason)
	}
	if err != nil {
		return nil, err
	}
	return runReply(x.engine.DismissRun(ctx, tenant, id, q.Reason))
}

// dismissManyRequest is a decoded request: which runs, and why.
type dismissManyRequest struct {
	scheduler.RunQuery
	reason string
}

// There is no cursor: what was dismissed is listed no longer, so the same request again continues by itself.
var dismissManyMembers = object[dismissManyRequest]{
	"job":    text(func(q *dismissManyRequest) *string { return &q.Job }),
	"from":   timeField(func(q *dismissManyRequest) *instant.Millis { return &q.From }),
	"to":     timeField(func(q *dismissManyRequest) *instant.Millis { return &q.To }),
	"limit":  between(1, scheduler.PageMax, func(q *dismissManyRequest) *int { return &q.Limit }),
	"reason": text(func(q *dismissManyRequest) *string { return &q.reason }),
}

// dismissMany dismisses the newest dead runs of a selection. The limit bounds what one request changes; more in the
// reply says that some are left.
func (x *Executor) dismissMany(ctx context.Context, tenant string, q *dismissManyRequest) (any, error) {
	if err := checkRunQuery(&q.RunQuery, true); err != nil {
		return nil, err
	}
	if err := checkReason(q.reason); err != nil {
		return nil, err
	}
	setDefault(&q.Limit, PageDefault)
	q.Tenant, q.Status = tenant, job.StatusDead
	n, more, err := x.engine.DismissDead(ctx, q.RunQuery, q.reason)
	if err != nil {
		return nil, aboutJob(err)
	}
	return &client.DismissManyReply{Dismissed: n, More: more}, nil
}
