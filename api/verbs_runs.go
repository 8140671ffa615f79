package api

import (
	"context"
	"errors"

	"github.com/carillon-io/carillon/apierr"
	"github.com/carillon-io/carillon/client"
	"github.com/carillon-io/carillon/instant"
	"github.com/carillon-io/carillon/job"
	"github.com/carillon-io/carillon/scheduler"
)

// triggerRequest asks for a manual run. key makes it safe to repeat: two requests with the same key start one run.
type triggerRequest struct {
	// key is "" for a trigger that may not be repeated.
	name, key string
	// json and base64 exclude each other; both nil mean the payload of the job.
	json, base64 []byte
	// ifVersion is nil for any version of the job.
	ifVersion *uint32
}

// triggerMembers has no delay: a run at a later time is a job with @at.
var triggerMembers = object[triggerRequest]{
	"name":            text(func(q *triggerRequest) *string { return &q.name }),
	"payload":         jsonValue(func(q *triggerRequest) *[]byte { return &q.json }),
	"payload_base64":  base64Value(func(q *triggerRequest) *[]byte { return &q.base64 }),
	"idempotency_key": filled(func(q *triggerRequest) *string { return &q.key }),
	"if_version":      presentVersion(func(q *triggerRequest) **uint32 { return &q.ifVersion }),
}

// trigger fires a manual run. It replies when the run is durable, not when it has ended. An empty payload replaces
// that of the job too; only an absent one leaves it.
func (x *Executor) trigger(ctx context.Context, tenant string, q *triggerRequest) (any, error) {
	if err := job.ValidateName(q.name); err != nil {
		return nil, err
	}
	if q.json != nil && q.base64 != nil {
		return nil, errTwoPayloads()
	}
	req := scheduler.TriggerRequest{Tenant: tenant, Job: q.name, Key: q.key, IfVersion: q.ifVersion, Payload: q.base64, HasPayload: q.base64 != nil}
	if q.json != nil {
		req.Payload, req.HasPayload, req.PayloadJSON = q.json, true, true
	}
	// The bound is that of a job's payload, because a target gets either in the same way.
	if len(req.Payload) > x.opts.Rules.PayloadBytesMax {
		return nil, apierr.Errorf(apierr.TooLarge, "payload", "has %d bytes; at most %d are allowed", len(req.Payload), x.opts.Rules.PayloadBytesMax)
	}
	if len(q.key) > job.IdempotencyKeyMax {
		return nil, apierr.Errorf(apierr.TooLarge, "idempotency_key", "has %d bytes; at most %d are allowed", len(q.key), job.IdempotencyKeyMax)
	}
	v, err := x.engine.Trigger(ctx, req)
	if err != nil {
		return nil, err
	}
	return &client.RunReply{Run: runOf(&v)}, nil
}

// backfillMembers reads the API's name into Job, as the engine calls it.
var backfillMembers = object[scheduler.BackfillRequest]{
	"name":    text(func(q *scheduler.BackfillRequest) *string { return &q.Job }),
	"from":    timeField(func(q *scheduler.BackfillRequest) *instant.Millis { return &q.From }),
	"to":      timeField(func(q *scheduler.BackfillRequest) *instant.Millis { return &q.To }),
	"limit":   between(1, scheduler.BackfillMax, func(q *scheduler.BackfillRequest) *int { return &q.Limit }),
	"repeat":  boolean(func(q *scheduler.BackfillRequest) *bool { return &q.Repeat }),
	"dry_run": boolean(func(q *scheduler.BackfillRequest) *bool { return &q.DryRun }),
}

// backfill fires runs for the ticks in [from, to). Both ends are required, because a default for either could fire
// more runs than the caller meant.
func (x *Executor) backfill(ctx context.Context, tenant string, q *scheduler.BackfillRequest) (any, error) {
	if err := job.ValidateName(q.Job); err != nil {
		return nil, err
	}
	// Both ends must be there, and hold at least one instant.
	switch {
	case q.From == 0:
		return nil, apierr.Errorf(apierr.InvalidField, "from", "is missing; want the time of the first tick")
	case q.To == 0:
		return nil, apierr.Errorf(apierr.InvalidField, "to", "is missing; want the time that the last tick is before")
	case q.From >= q.To:
		return nil, apierr.Errorf(apierr.InvalidField, "from", "%s must be before to, which is %s", q.From, q.To)
	}
	q.Tenant = tenant
	done, err := x.engine.Backfill(ctx, *q)
	if err != nil {
		return nil, err
	}
	reply := &client.BackfillReply{Runs: done.Runs, LeftOut: done.LeftOut}
	for _, at := range done.Times {
		reply.Times = append(reply.Times, timeOf(at))
	}
	return reply, nil
}

// runListRequest is the query, with the cursor from which it continues.
type runListRequest struct {
	scheduler.RunQuery
	// attempts shows those of each run, of which there may be a hundred.
	attempts bool
	cursor   string
	// isPartial is for a router; one shard alone has no parts.
	isPartial bool
}

// asked returns what a cursor of the list belongs to.
func (q *runListRequest) asked() query {
	return query{"runs", q.Tenant, q.Job, q.From.String(), q.To.String(), q.Status.String()}
}

// runListMembers has the filters of the engine, the attempts and the cursor.
var runListMembers = object[runListRequest]{
	"job":      text(func(q *runListRequest) *string { return &q.Job }),
	"from":     timeField(func(q *runListRequest) *instant.Millis { return &q.From }),
	"to":       timeField(func(q *runListRequest) *instant.Millis { return &q.To }),
	"status":   word(job.ParseStatus, func(q *runListRequest) *job.Status { return &q.Status }),
	"attempts": boolean(func(q *runListRequest) *bool { return &q.attempts }),
	"limit":    between(1, scheduler.PageMax, func(q *runListRequest) *int { return &q.Limit }),
	"cursor":   text(func(q *runListRequest) *string { return &q.cursor }),

	"partial": boolean(func(q *runListRequest) *bool { return &q.isPartial }),
}

// runs lists runs, newest first. Attempts are left out unless they are asked for: they multiply the size of a page.
func (x *Executor) runs(ctx context.Context, tenant string, q *runListRequest) (any, error) {
	// Only the list of dead runs may leave the job out.
	if err := checkRunQuery(&q.RunQuery, q.Status == job.StatusDead); err != nil {
		return nil, err
	}
	setDefault(&q.Limit, PageDefault)
	q.Tenant = tenant
	sees, err := x.sightOf(ctx, tenant, false)
	if err != nil {
		return nil, err
	}
	page := &runPage{query: q.asked()}
	key, err := page.query.key(q.cursor)
	if err == nil && key != "" {
		q.After, err = job.ParseRunID(key)
	}
	if err != nil {
		return nil, err
	}
	next := func(n int) ([]client.Run, bool, error) {
		asked := q.RunQuery
		asked.Limit = n
		got, err := x.engine.Runs(ctx, asked)
		// The engine's place is kept even if the read failed: the error ends the page then.
		q.After = got.Next
		return runsOf(got.Runs, q.attempts, sees), got.Next != (job.RunID{}), err
	}
	var more bool
	if page.Runs, more, err = fill(q.Limit, runStep, x.pageBytesFor(ctx), next, runBytes); err != nil {
		return nil, aboutJob(err)
	}
	if more {
		page.NextCursor = page.query.cursor(q.After.String())
	}
	return page, nil
}

// runsOf returns runs as callers see them, with their attempts if these are asked for.
func runsOf(views []scheduler.RunView, attempts bool, sees sight) []client.Run {
	list := make([]client.Run, len(views))
	for i := range views {
		list[i] = runOf(&views[i])
		if attempts {
			list[i].Attempts = attemptsOf(&views[i])
		}
		sees.maskRun(&list[i])
	}
	return list
}

// runBytes returns the approximate encoded size of a run. It is an estimate for fill, which reads another step
// while a page is smaller than a message.
func runBytes(r *client.Run) int {
	const usual, attempt = 300, 120
	n := usual + len(r.Job) + len(r.Result) + len(r.Error)
	for i := range r.Attempts {
		n += attempt + len(r.Attempts[i].Error)
	}
	return n
}

// checkRunQuery checks which runs are asked for. The runs of all jobs can be listed only if they are dead. Only dead
// runs have an index by tenant; a list of the others would have to read the history of every job.
func checkRunQuery(q *scheduler.RunQuery, allJobs bool) error {
	if q.Job != "" || !allJobs {
		if err := job.ValidateName(q.Job); err != nil {
			return aboutJob(err)
		}
	}
	return checkRange(q.From, q.To)
}

// checkRange checks a range of time, either end of which may be missing.
func checkRange(from, to instant.Millis) error {
	if from != 0 && to != 0 && from >= to {
		return apierr.Errorf(apierr.InvalidField, "from", "%s must be before to, which is %s", from, to)
	}
	return nil
}

// aboutJob sets the field of an error about a job's name to the member that holds the name here.
func aboutJob(err error) error {
	e, ok := errors.AsType[*apierr.Error](err)
	if !ok || e.Field != "name" {
		return err
	}
	return &apierr.Error{Code: e.Code, Field: "job", Message: e.Message}
}

// runMembers is for the requests that only name a run.
var runMembers = object[client.RunRequest]{
	"run_id": text(func(q *client.RunRequest) *string { return &q.RunID }),
}

// run reads a run with its attempts, live or final. A run of another tenant is not found.
func (x *Executor) run(ctx context.Context, tenant string, q *client.RunRequest) (any, error) {
	id, err := job.ParseRunID(q.RunID)
	if err != nil {
		return nil, err
	}
	v, err := x.engine.Run(ctx, tenant, id)
	if err != nil {
		return nil, err
	}
	run := runOf(&v)
	run.Attempts = attemptsOf(&v)
	sees, err := x.sightOf(ctx, tenant, false)
	if err != nil {
		return nil, err
	}
	sees.maskRun(&run)
	return &client.RunReply{Run: run}, nil
}
