package tracing

import (
	"context"
	"strings"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	"go.opentelemetry.io/otel/trace"

	"github.com/carillon-io/carillon/apierr"
	"github.com/carillon-io/carillon/job"
)

// textBytesMax bounds an attribute whose text comes from a caller, in bytes. The request may have been
// refused because of that text, so it can be of any length.
const textBytesMax = 256

// verbKey is the context key of the verb of a request. It is set only if the span is recorded, and Concerns
// is its only reader.
type verbKey struct{}

// Request begins the span of a request and returns ctx with it. The span continues the trace in the
// headers, which header reads by name; if header is nil, the request comes from this process and the
// span continues the trace of ctx. via is the way of the request: nats, http, dashboard or local.
func (t *Tracer) Request(ctx context.Context, verb, via string, header func(name string) string) context.Context {
	kind := trace.SpanKindInternal
	if header != nil {
		ctx, kind = traceContext.Extract(ctx, carrier(header)), trace.SpanKindServer
	}
	ctx, span := t.spans.Start(ctx, verb, trace.WithSpanKind(kind), trace.WithAttributes(attribute.String("carillon.via", via)))
	if !span.IsRecording() {
		return ctx
	}
	return context.WithValue(ctx, verbKey{}, verb)
}

// Origin returns the span of the request in ctx, to be stored in the row of a job; zero if the span is
// not sampled.
func (t *Tracer) Origin(ctx context.Context) job.TraceContext {
	sc := trace.SpanContextFromContext(ctx)
	if !sc.IsSampled() || !sc.IsValid() {
		return job.TraceContext{}
	}
	return job.TraceContext{Trace: sc.TraceID(), Span: sc.SpanID(), Flags: byte(sc.TraceFlags())}
}

// Concerns records the job (or calendar) or the run of the request in its span. Either may be "".
func (t *Tracer) Concerns(ctx context.Context, name, runID string) {
	span := trace.SpanFromContext(ctx)
	if !span.IsRecording() {
		return
	}
	key := "carillon.job"
	if verb, _ := ctx.Value(verbKey{}).(string); strings.HasPrefix(verb, "calendars.") {
		key = "carillon.calendar"
	}
	setText(span, key, name)
	setText(span, "carillon.run_id", runID)
}

// Answered ends the span of a request. code is "" for success; fault says that the server and not the caller is
// at fault. Only then does the span have the status of an error: a caller's mistake is no failure of the
// server, and its code is in an attribute.
func (t *Tracer) Answered(ctx context.Context, tenant string, code apierr.Code, fault bool) {
	span := trace.SpanFromContext(ctx)
	setText(span, "carillon.tenant", tenant)
	setText(span, "carillon.code", string(code))
	if fault {
		span.SetStatus(codes.Error, string(code))
	}
	span.End()
}

// setText sets an attribute to a text from a caller, cut to textBytesMax; "" sets nothing.
func setText(span trace.Span, key, text string) {
	if text == "" {
		return
	}
	text = text[:min(len(text), textBytesMax)]
	span.SetAttributes(attribute.String(key, strings.ToValidUTF8(text, "�")))
}
