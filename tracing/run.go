package tracing

import (
	"context"
	"crypto/sha256"
	"encoding/binary"
	"math"

	"go.opentelemetry.io/otel/trace"

	"github.com/carillon-io/carillon/job"
)

// runTrace is the trace of a run. It is computed from the run's id, so no node needs to store it.
type runTrace struct {
	id      trace.TraceID
	root    trace.SpanID // span id of the first attempt
	sampled bool         // the same for every attempt, or a trace would lack some of them
}

// traceOf returns the trace of a run. origin is the span of the job's registration, zero if that was not
// sampled. The text before the run's id keeps the hash apart from other hashes of the same id. It must never
// change: during an upgrade, nodes of both releases make attempts of the same runs.
func traceOf(run job.RunID, origin job.TraceContext, r ratio) runTrace {
	sum := sha256.Sum256([]byte("carillon run " + run.String()))
	var t runTrace
	copy(t.id[:], sum[:16])
	copy(t.root[:], sum[16:24])
	t.sampled = r.takes(t.id) || origin.IsValid() && trace.TraceFlags(origin.Flags).IsSampled()
	return t
}

// spanContext returns the span context of the run's first attempt, which is the parent of the later
// ones.
func (t runTrace) spanContext() trace.SpanContext {
	return trace.NewSpanContext(trace.SpanContextConfig{
		TraceID: t.id, SpanID: t.root, TraceFlags: trace.FlagsSampled.WithSampled(t.sampled), Remote: true,
	})
}

// ratio is a share of all traces: a bound for 63 bits of the lower half of their ids. The zero value takes no
// trace, math.MaxInt64 all of them.
type ratio uint64

// newRatio returns the ratio for a share from 0 to 1.
func newRatio(share float64) ratio {
	if share >= 1 {
		return math.MaxInt64
	}
	return ratio(max(share, 0) * (1 << 63))
}

// takes reports whether a trace is in the share. The answer is the same on every node with the same ratio,
// and equal to that of OpenTelemetry's ratio sampler, so that a target that samples by the same ratio keeps
// the same traces.
func (r ratio) takes(id trace.TraceID) bool {
	return r == math.MaxInt64 || binary.BigEndian.Uint64(id[8:])>>1 < uint64(r)
}

// runKey is the context key of the run whose first span is about to begin. The context is the only way by
// which the library passes anything to its sampler and its generator of ids.
type runKey struct{}

// runOf returns the trace of that run; false if ctx has none.
func runOf(ctx context.Context) (runTrace, bool) {
	t, ok := ctx.Value(runKey{}).(runTrace)
	return t, ok
}
