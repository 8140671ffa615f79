package tracing

import (
	"context"
	"crypto/rand"

	sdktrace "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/trace"
)

// sampler samples the first attempt of a run if the run's trace is sampled, as its later attempts are
// through their parent. It leaves all other spans to base. The library's ratio sampler alone would not do: it
// would decide about the first attempt without the registration.
type sampler struct{ base sdktrace.Sampler }

// ShouldSample implements sdktrace.Sampler.
func (s sampler) ShouldSample(p sdktrace.SamplingParameters) sdktrace.SamplingResult {
	run, ok := runOf(p.ParentContext)
	switch {
	case !ok:
		return s.base.ShouldSample(p)
	case run.sampled:
		return sdktrace.SamplingResult{Decision: sdktrace.RecordAndSample}
	default:
		return sdktrace.SamplingResult{Decision: sdktrace.Drop}
	}
}

// Description implements sdktrace.Sampler.
func (s sampler) Description() string { return "Carillon{" + s.base.Description() + "}" }

// ids gives the first attempt of a run the ids of the run's trace, and all other spans random ids. If that
// attempt is launched again after a crash, its span has the same id again; the first one ended with its
// process, so the collector has usually not received it.
type ids struct{}

// NewIDs implements sdktrace.IDGenerator.
func (ids) NewIDs(ctx context.Context) (id trace.TraceID, span trace.SpanID) {
	if run, ok := runOf(ctx); ok {
		return run.id, run.root
	}
	_, _ = rand.Read(id[:]) // never fails
	_, _ = rand.Read(span[:])
	return id, span
}

// NewSpanID implements sdktrace.IDGenerator.
func (ids) NewSpanID(context.Context, trace.TraceID) (span trace.SpanID) {
	_, _ = rand.Read(span[:])
	return span
}
