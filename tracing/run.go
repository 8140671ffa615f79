package tracing

import (
	"context"
	"crypto/sha256"
	"encoding/binary"
	"math"

	"go.opentelemetry.io/otel/trace"

	"github.com/carillon-io/carillon/job"
)

// runTrace is the trace of a run, which follows from its id.
type runTrace struct {
	id      trace.TraceID
	root    trace.SpanID // of the first attempt
	sampled bool
}

// traceOf returns the trace of a run that a span has registered.
func traceOf(run job.RunID, origin job.TraceContext, r ratio) runTrace {
	sum := sha256.Sum256([]byte("carillon run " + run.String()))
	var t runTrace
	copy(t.id[:], sum[:16])
	copy(t.root[:], sum[16:24])
	t.sampled = r.takes(t.id) || origin.IsValid() && trace.TraceFlags(origin.Flags).IsSampled()
	return t
}

// spanContext returns the first attempt of the run.
func (t runTrace) spanContext() trace.SpanContext {
	return trace.NewSpanContext(trace.SpanContextConfig{
		TraceID: t.id, SpanID: t.root, TraceFlags: trace.FlagsSampled.WithSampled(t.sampled), Remote: true,
	})
}

// ratio is a share of all traces, as a bound for the lower half of their ids.
type ratio uint64

// newRatio returns the share of all traces that a number from 0 to 1 means.
func newRatio(share float64) ratio {
	if share >= 1 {
		return math.MaxInt64
	}
	return ratio(max(share, 0) * (1 << 63))
}

// takes tells whether a trace is in the share: the same everywhere, and as the ratio sampler of
// OpenTelemetry has it.
func (r ratio) takes(id trace.TraceID) bool {
	return r == math.MaxInt64 || binary.BigEndian.Uint64(id[8:])>>1 < uint64(r)
}

// runKey is the context key of the run whose first span is about to begin.
type runKey struct{}

// runOf returns that run.
func runOf(ctx context.Context) (runTrace, bool) {
	t, ok := ctx.Value(runKey{}).(runTrace)
	return t, ok
}
