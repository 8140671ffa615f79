package api

import (
	"context"
	"errors"
	"net/http"

	"github.com/carillon-io/carillon/apierr"
	"github.com/carillon-io/carillon/client"
	"github.com/carillon-io/carillon/job"
	"github.com/carillon-io/carillon/scheduler"
)

// Tracer traces requests from their arrival to their answer. Its methods are safe for concurrent use and do not
// block. The contexts passed to it are those that Request returned, or derived from them.
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

// trace begins the span of a request.
func (s *Service) trace(ctx context.Context, verb, via string, header func(string) string) context.Context {
	if s.opts.Tracer == nil {
		return ctx
	}
	return s.opts.Tracer.Request(ctx, verb, via, header)
}

// endTrace ends the span of a request.
func (s *Service) endTrace(ctx context.Context, tenant string, err error) {
	if s.opts.Tracer == nil {
		return
	}
	if err == nil {
		s.opts.Tracer.Answered(ctx, tenant, "", false)
		return
	}
	e, ok := errors.AsType[*client.Error](err)
	if !ok {
		e = publicError(err)
	}
	s.opts.Tracer.Answered(ctx, tenant, apierr.Code(e.Code), e.Status >= http.StatusInternalServerError)
}

// tenantIfRead returns the tenant of an HTTP request; "" if it was not read.
func (c *webCall) tenantIfRead() string {
	if c == nil {
		return ""
	}
	return c.tenant
}

// withOrigin attaches the span of a request to the jobs that it registers.
func (s *Service) withOrigin(ctx context.Context) context.Context {
	if s.opts.Tracer == nil {
		return ctx
	}
	return scheduler.WithOrigin(ctx, s.opts.Tracer.Origin(ctx))
}

func (s *Service) noteJob(ctx context.Context, name string) {
	if s.opts.Tracer != nil {
		s.opts.Tracer.Concerns(ctx, name, "")
	}
}

func (s *Service) noteRun(ctx context.Context, id string) {
	s.opts.Tracer.Concerns(ctx, "", id)
}

// noteAbout records which job or run a request names.
func (s *Service) noteAbout(ctx context.Context, request any) {
	if s.opts.Tracer == nil {
		return
	}
	switch q := request.(type) {
	case *client.GetRequest:
		s.noteJob(ctx, q.Name)
	case *client.NameRequest:
		s.noteJob(ctx, q.Name)
	case *client.DeleteRequest:
		s.noteJob(ctx, q.Name)
	case *client.PauseRequest:
		s.noteJob(ctx, q.Name)
	case *triggerRequest:
		s.noteJob(ctx, q.name)
	case *scheduler.BackfillRequest:
		s.noteJob(ctx, q.Job)
	case *runListRequest:
		s.noteJob(ctx, q.Job)
	case *client.RunRequest:
		s.noteRun(ctx, q.RunID)
	case *client.ReportRequest:
		s.noteRun(ctx, q.RunID)
	case *extendRequest:
		s.noteRun(ctx, q.runID)
	}
}
