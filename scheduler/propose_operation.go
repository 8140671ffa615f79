package scheduler

import (
	"context"

	"github.com/carillon-io/carillon/job"
	"github.com/carillon-io/carillon/scheduler/core"
)

// RecordOperation adds an entry to the audit log of a tenant about what the actor of ctx asks of the cluster: the action, the
// node that it is about, and a detail. It is durable when RecordOperation returns nil; after an error it may be, too.
func (e *Engine) RecordOperation(ctx context.Context, action job.Action, tenant, node, detail string) error {
	return e.submit(ctx, &core.Operation{Action: action, Tenant: tenant, Name: node, Detail: detail, Actor: e.actorOf(ctx)})
}
