package tracing

import (
	"context"
	"net/url"
	"strconv"
	"time"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	"go.opentelemetry.io/otel/trace"

	"github.com/carillon-io/carillon/job"
)

// Attempt begins the span of an attempt that was launched at launched. The context that it returns identifies
// the attempt in the other methods, even if the span is not sampled: the target still gets the trace.
//
// The first attempt has no parent, and ids gives it the ids of the run's trace. Later attempts have the first
// one as their parent, which may have run on another node. With the provider of a program (New) the ids
// cannot be set, so there the first attempt has that parent too.
//
// Attributes and links are made only for a sampled span, because every launch calls Attempt.
func (t *Tracer) Attempt(d *job.Delivery, launched time.Time) context.Context {
	run := traceOf(d.Run, d.Origin, t.ratio)
	ctx := context.Background()
	if t.hasRoot && d.Attempt == 1 {
		ctx = context.WithValue(ctx, runKey{}, run)
	} else {
		ctx = trace.ContextWithRemoteSpanContext(ctx, run.spanContext())
	}
	options := []trace.SpanStartOption{trace.WithTimestamp(launched), trace.WithSpanKind(kindOf(d.Target.Kind))}
	if run.sampled {
		options = append(options, trace.WithAttributes(attemptAttributes(d)...))
		if origin := spanContextOf(d.Origin); origin.IsValid() {
			options = append(options, trace.WithLinks(trace.Link{SpanContext: origin}))
		}
	}
	ctx, _ = t.spans.Start(ctx, "attempt "+d.Target.Kind.String(), options...)
	return ctx
}

// Headers returns the values of the headers traceparent and tracestate for the target. The target continues
// the trace of the run, not that of the registration.
func (t *Tracer) Headers(attempt context.Context) (parent, state string) { return headersOf(attempt) }

// Within returns ctx with the span of an attempt in it, so that spans of a handler in this process become
// its children. Deadline and cancellation remain those of ctx: the attempt's context has none.
func (t *Tracer) Within(ctx, attempt context.Context) context.Context {
	return trace.ContextWithSpan(ctx, trace.SpanFromContext(attempt))
}

// Ended ends the span of an attempt, with its outcome. It takes the times from the outcome and not from the
// clock, because it may be called a while after the answer. An outcome without LaunchedAt is that of an
// attempt that was never sent; its span ends at the call.
func (t *Tracer) Ended(attempt context.Context, d *job.Delivery, o job.Outcome) {
	span := trace.SpanFromContext(attempt)
	if !span.IsRecording() {
		return
	}
	ended := time.Now()
	if !o.LaunchedAt.IsZero() {
		ended = o.LaunchedAt.Add(o.Duration) // Duration is monotonic, so the end is never before the beginning
		span.AddEvent("sent", trace.WithTimestamp(o.LaunchedAt))
		if d.Attempt == 1 {
			late := max(o.LaunchedAt.Sub(d.Run.At.Time()), 0)
			span.SetAttributes(attribute.Float64("carillon.lateness_ms", float64(late)/float64(time.Millisecond)))
		}
	}
	if o.Error != "" {
		span.SetStatus(codes.Error, o.Error)
	}
	span.End(trace.WithTimestamp(ended))
}

// kindOf returns OpenTelemetry's span kind for an attempt at a target of kind k: Producer if no answer is
// expected from the receiver of the message, Client if it is, Internal for a handler in this process.
func kindOf(k job.TargetKind) trace.SpanKind {
	switch k {
	case job.TargetNATS, job.TargetJetStream:
		return trace.SpanKindProducer
	case job.TargetRequest, job.TargetHTTP:
		return trace.SpanKindClient
	default:
		return trace.SpanKindInternal
	}
}

// attributesMax is the largest number of attributes of an attempt's span. It is the capacity of the slice, so
// that it is allocated once; a smaller value would only cost a second allocation.
const attributesMax = 10

// attemptAttributes returns the attributes that identify an attempt and its target. They have no path,
// query or user name of a URL, because those often contain secrets.
func attemptAttributes(d *job.Delivery) []attribute.KeyValue {
	all := append(make([]attribute.KeyValue, 0, attributesMax),
		attribute.String("carillon.tenant", d.Tenant),
		attribute.String("carillon.job", d.Name),
		attribute.String("carillon.run_id", d.Run.String()),
		attribute.Int64("carillon.attempt", int64(d.Attempt)),
		attribute.String("carillon.scheduled_at", d.Run.At.String()),
	)
	switch d.Target.Kind {
	case job.TargetHTTP:
		all = append(all, httpAttributes(d.Target)...)
	case job.TargetHandler:
		all = append(all, attribute.String("carillon.handler", d.Target.Handler))
	default:
		all = append(all, attribute.String("messaging.system", "nats"), attribute.String("messaging.operation.type", "send"),
			attribute.String("messaging.destination.name", d.Target.Subject))
	}
	return all
}

// httpAttributes returns the method of an HTTP target, and the scheme, host and port of its URL.
func httpAttributes(t job.Target) []attribute.KeyValue {
	method := t.Method
	if method == "" {
		method = "POST"
	}
	all := []attribute.KeyValue{attribute.String("http.request.method", method)}
	u, err := url.Parse(t.URL)
	if err != nil || t.URLSecret != "" { // the host is secret too
		return all
	}
	all = append(all, attribute.String("url.scheme", u.Scheme), attribute.String("server.address", u.Hostname()))
	if port, err := strconv.Atoi(u.Port()); err == nil {
		all = append(all, attribute.Int("server.port", port))
	}
	return all
}

// spanContextOf returns the span of the registration that is stored in the row of a job. It is not valid if
// the registration was not sampled: the row then holds the zero value.
func spanContextOf(t job.TraceContext) trace.SpanContext {
	return trace.NewSpanContext(trace.SpanContextConfig{TraceID: t.Trace, SpanID: t.Span, TraceFlags: trace.TraceFlags(t.Flags), Remote: true})
}
