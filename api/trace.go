package api

import (
	"context"
	"net/http"

	"github.com/carillon-io/carillon/apierr"
	"github.com/carillon-io/carillon/client"
	"github.com/carillon-io/carillon/job"
	"github.com/carillon-io/carillon/scheduler"
)

// Tracer traces requests from their arrival to their answer. Its methods are safe for concurrent use and do not
// block. The contexts passed to it are those that Request returned, or derived from them. It names no type of a
// tracing library: package tracing implements it.
type Tracer interface {
	// Request begins the span of a request for a verb that came some way: nats, http or local. It continues the trace
	// of the caller, which header gives by traceparent and tracestate. Without header the caller is in this process,
	// and its span is in ctx.
	Request(ctx context.Context, verb, via string, header func(name string) string) context.Context
	// Origin returns the span of the request, or the zero value if it is not sampled.
	Origin(ctx context.Context) job.TraceContext
	// Concerns records what the request is about, as the caller wrote it: the name of a job or of a calendar, and the
	// id of a run. Either may be "".
	Concerns(ctx context.Context, name, runID string)
	// Answered ends the span. code is "" if the request was carried out. fault means that it was not, and that the
	// server is to blame.
	Answered(ctx context.Context, tenant string, code apierr.Code, fault bool)
}

// trace begins the span of a request, before it is read, so that the span includes the reading of a slow body.
func (x *Executor) trace(ctx context.Context, a *arrival) context.Context {
	if x.opts.Tracer == nil || a.isUntraced {
		return ctx
	}
	return x.opts.Tracer.Request(ctx, a.verb.name, a.via.String(), a.header)
}

// endTrace ends the span of a request. The tenant is "" if the request was not read. Refusals are no faults: a
// trace is marked as an error only if the server is to blame, that is from status 500 on.
func (x *Executor) endTrace(ctx context.Context, a *arrival, tenant string, err error) {
	if x.opts.Tracer == nil || a.isUntraced {
		return
	}
	if err == nil {
		x.opts.Tracer.Answered(ctx, tenant, "", false)
		return
	}
	e := PublicError(err)
	x.opts.Tracer.Answered(ctx, tenant, apierr.Code(e.Code), e.Status >= http.StatusInternalServerError)
}

// withOrigin attaches the span of a request to the jobs that it registers. The rows of a job keep it, so that the
// span of a later run can link to the request that registered the job.
func (x *Executor) withOrigin(ctx context.Context) context.Context {
	if x.opts.Tracer == nil {
		return ctx
	}
	return scheduler.WithOrigin(ctx, x.opts.Tracer.Origin(ctx))
}

// noteJob records the job that a request names, as it was written, so that a refused request can be found by it too.
func (x *Executor) noteJob(ctx context.Context, name string) {
	if x.opts.Tracer != nil {
		x.opts.Tracer.Concerns(ctx, name, "")
	}
}

// noteRun is called only with a tracer.
func (x *Executor) noteRun(ctx context.Context, id string) {
	x.opts.Tracer.Concerns(ctx, "", id)
}

// noteAbout records which job or run a request names. A type that is missing here has a span without a name of a job,
// and nothing worse.
func (x *Executor) noteAbout(ctx context.Context, request any) {
	if x.opts.Tracer == nil {
		return
	}
	switch q := request.(type) {
	case *client.GetRequest:
		x.noteJob(ctx, q.Name)
	case *client.NameRequest:
		x.noteJob(ctx, q.Name)
	case *client.DeleteRequest:
		x.noteJob(ctx, q.Name)
	case *client.PauseRequest:
		x.noteJob(ctx, q.Name)
	case *triggerRequest:
		x.noteJob(ctx, q.name)
	case *scheduler.BackfillRequest:
		x.noteJob(ctx, q.Job)
	case *runListRequest:
		x.noteJob(ctx, q.Job)
	case *client.RunRequest:
		x.noteRun(ctx, q.RunID)
	case *client.DismissRequest:
		x.noteRun(ctx, q.RunID)
	case *client.ReportRequest:
		x.noteRun(ctx, q.RunID)
	case *extendRequest:
		x.noteRun(ctx, q.runID)
	}
}
