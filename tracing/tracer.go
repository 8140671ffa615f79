package tracing

import (
	"context"

	"go.opentelemetry.io/otel/propagation"
	"go.opentelemetry.io/otel/trace"
)

// scope is the name of the instrumentation.
const scope = "github.com/carillon-io/carillon"

// Tracer makes the spans of requests and attempts. It implements what the API and the dispatcher want of
// one. Its methods are safe for concurrent use and wait for nothing.
type Tracer struct {
	spans   trace.Tracer
	ratio   ratio
	hasRoot bool // the provider takes the ids of a run's first span from us

	pipeline *pipeline // nil: the provider is the caller's
}

// traceContext reads and writes the headers.
var traceContext propagation.TraceContext

// New returns a tracer that makes its spans with a provider of the program's: for a scheduler inside a
// program that is traced already. Sampling is up to that provider: what it is asked about a run has a parent
// that is sampled if the registration was, or by the share of runs, from 0 to 1. The parent of
// the attempts of a run is never exported.
func New(provider trace.TracerProvider, share float64) *Tracer {
	return &Tracer{spans: provider.Tracer(scope), ratio: newRatio(share)}
}

// carrier reads headers by whatever function has them. NATS keeps the case of names, and some callers write
// them as HTTP does.
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

// Set implements propagation.TextMapCarrier. Nothing is ever set.
func (carrier) Set(string, string) {}

// Keys implements propagation.TextMapCarrier.
func (carrier) Keys() []string { return nil }

// headersOf returns the headers for a span.
func headersOf(ctx context.Context) (parent, state string) {
	c := propagation.MapCarrier{}
	traceContext.Inject(ctx, c)
	return c["traceparent"], c["tracestate"]
}
