package shard

import (
	"context"

	"github.com/carillon-io/carillon/job"
	"github.com/carillon-io/carillon/replication"
	"github.com/carillon-io/carillon/scheduler"
)

const (
	// operationsTenant is the tenant whose audit log has what concerns all tenants.
	operationsTenant = "default"
	// overNATS is the origin of requests about the cluster, and, on a server with rights, all that it knows of who asks: they come
	// in Carillon's own account, where NATS names no user.
	overNATS = "nats"
)

// recordOperation adds an operation of an operator to the audit log, while the shard leads.
func (s *Shard) recordOperation(ctx context.Context, op replication.Operation) error {
	actor := job.Actor{By: op.By, From: overNATS}
	if s.opts.API.Access != nil {
		actor = job.Actor{By: overNATS, From: overNATS, Claimed: op.By}
	}
	if err := actor.Validate(); err != nil {
		return err
	}
	return s.engine.Load().RecordOperation(scheduler.WithActor(ctx, actor), op.Action, operationsTenant, op.Node, op.Detail)
}
