package api

import (
	"context"
	"time"

	"github.com/carillon-io/carillon/apierr"
	"github.com/carillon-io/carillon/client"
	"github.com/carillon-io/carillon/job"
	"github.com/carillon-io/carillon/scheduler"
)

// reportMembers has both texts; which of them belongs to the status is checked by checkReport.
var reportMembers = object[client.ReportRequest]{
	"run_id": text(func(q *client.ReportRequest) *string { return &q.RunID }),
	"fence":  fence(func(q *client.ReportRequest) *uint64 { return &q.Fence }),
	"status": word(parseOutcome, func(q *client.ReportRequest) *client.Outcome { return &q.Status }),
	"result": text(func(q *client.ReportRequest) *string { return &q.Result }),
	"error":  text(func(q *client.ReportRequest) *string { return &q.Error }),
}

// wantOutcome is what both errors about the status say, so that they cannot differ.
const wantOutcome = `want "succeeded" or "failed"`

// parseOutcome parses the outcome in a report. There are two: a worker cannot report a run as cancelled or as dead,
// which the engine decides.
func parseOutcome(s string) (client.Outcome, error) {
	switch o := client.Outcome(s); o {
	case client.OutcomeSucceeded, client.OutcomeFailed:
		return o, nil
	}
	return "", apierr.Errorf(apierr.InvalidField, "status", "%q is no outcome of a run; %s", apierr.Clip(s), wantOutcome)
}

// report handles what a worker says about its run. The same report may be sent again: it gets the same answer, so a
// worker that lost the reply repeats it.
func (x *Executor) report(ctx context.Context, tenant string, q *client.ReportRequest) (any, error) {
	id, err := heldRun(q.RunID, q.Fence)
	if err == nil {
		err = checkReport(q)
	}
	if err != nil {
		return nil, err
	}
	return runReply(x.engine.Report(ctx, scheduler.ReportRequest{
		Tenant: tenant, Run: id, Fence: q.Fence, Failed: q.Status == client.OutcomeFailed, Error: q.Error, Result: q.Result,
	}))
}

// heldRun checks the run id and the fence with which a worker names its attempt. The fence is required, because
// without it a worker whose attempt has timed out could end the attempt that followed.
func heldRun(runID string, fence uint64) (job.RunID, error) {
	id, err := job.ParseRunID(runID)
	if err == nil && fence == 0 {
		err = apierr.Errorf(apierr.InvalidField, "fence", "is missing; want that of the attempt, as the header Carillon-Fence has it")
	}
	return id, err
}

// checkReport refuses a report whose texts do not fit its status, because the worker probably meant the other status.
func checkReport(q *client.ReportRequest) error {
	switch {
	case q.Status == "":
		return apierr.Errorf(apierr.InvalidField, "status", "is missing; "+wantOutcome)
	case q.Status == client.OutcomeSucceeded && q.Error != "":
		return apierr.Errorf(apierr.InvalidField, "error", `goes with status "failed"; leave it out, or change the status`)
	case q.Status == client.OutcomeFailed && q.Result != "":
		return apierr.Errorf(apierr.InvalidField, "result", `goes with status "succeeded"; leave it out, or change the status`)
	case len(q.Result) > job.ResultBytesMax:
		return apierr.Errorf(apierr.TooLarge, "result", "has %d bytes; at most %d are allowed", len(q.Result), job.ResultBytesMax)
	case len(q.Error) > job.ErrorBytesMax:
		return apierr.Errorf(apierr.TooLarge, "error", "has %d bytes; at most %d are allowed", len(q.Error), job.ErrorBytesMax)
	}
	return nil
}

// extendRequest asks for more time to report.
type extendRequest struct {
	runID string
	fence uint64
	// by counts from the moment at which the engine handles the request.
	by time.Duration
}

// extendMembers has by as a length of time and not as an instant, because the clock of a worker may be wrong.
var extendMembers = object[extendRequest]{
	"run_id": text(func(q *extendRequest) *string { return &q.runID }),
	"fence":  fence(func(q *extendRequest) *uint64 { return &q.fence }),
	"by":     length(func(q *extendRequest) *time.Duration { return &q.by }),
}

// extend moves the deadline of a report to the given time from now; it never moves it back. A worker that dies after it
// is noticed that much later, hence the bound.
func (x *Executor) extend(ctx context.Context, tenant string, q *extendRequest) (any, error) {
	id, err := heldRun(q.runID, q.fence)
	if err != nil {
		return nil, err
	}
	if q.by <= 0 || q.by > job.ExtendMax {
		return nil, apierr.Errorf(apierr.InvalidField, "by", "must be more than 0s and at most %s", client.Duration(job.ExtendMax))
	}
	deadline, err := x.engine.Extend(ctx, tenant, id, q.fence, q.by)
	if err != nil {
		return nil, err
	}
	return &client.ExtendReply{Deadline: timeOf(deadline)}, nil
}

// runReply returns the reply with a run, or the error.
func runReply(v scheduler.RunView, err error) (any, error) {
	if err != nil {
		return nil, err
	}
	return &client.RunReply{Run: runOf(&v)}, nil
}
