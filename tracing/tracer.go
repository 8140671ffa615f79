package tracing

import (
	"context"

	"go.opentelemetry.io/otel/propagation"
	"go.opentelemetry.io/otel/trace"
)

// scope is the name of the instrumentation scope in each span.
const scope = "github.com/carillon-io/carillon/server"

// Tracer makes the spans of requests and attempts. It implements the tracer interfaces of the API and of
// the dispatcher. Its methods are safe for concurrent use and, except Close, never block.
type Tracer struct {
	spans   trace.Tracer // of the provider
	ratio   ratio        // the share of runs that are sampled without a sampled registration
	hasRoot bool         // the provider uses our ids for the first span of a run

	pipeline *pipeline // nil if the caller owns the provider
}

// traceContext reads and writes the headers traceparent and tracestate.
var traceContext propagation.TraceContext

// New returns a tracer that makes its spans with the provider of the program, for a scheduler inside a
// program that already uses OpenTelemetry. That provider decides about sampling: an attempt has a parent
// that is sampled if the job's registration was, or if the run is in the share, from 0 to 1. This parent
// stands for the run and is never exported.
func New(provider trace.TracerProvider, share float64) *Tracer {
	return &Tracer{spans: provider.Tracer(scope), ratio: newRatio(share)}
}

// carrier reads the headers of a request through a function. NATS preserves the case of names, and some
// callers write them as in HTTP, so it tries both.
type carrier func(name string) string

// Get implements propagation.TextMapCarrier.
func (c carrier) Get(name string) string {
	if value := c(name); value != "" {
		return value
	}
	switch name {
	case "traceparent":
		return c("Traceparent")
	case "tracestate":
		return c("Tracestate")
	}
	return ""
}

// Set implements propagation.TextMapCarrier. It does nothing, because a carrier is only read.
func (carrier) Set(string, string) {}

// Keys implements propagation.TextMapCarrier.
func (carrier) Keys() []string { return nil }

// headersOf returns the headers that continue the trace of ctx.
func headersOf(ctx context.Context) (parent, state string) {
	c := propagation.MapCarrier{}
	traceContext.Inject(ctx, c)
	return c["traceparent"], c["tracestate"]
}
