package scheduler

import (
	"context"

	"github.com/carillon-io/carillon/job"
)

// originKey is the context key of the span that a request has.
type originKey struct{}

// WithOrigin returns a context whose registrations are kept with a span: the runs of these jobs refer to
// it. A span that is none changes nothing.
func WithOrigin(ctx context.Context, origin job.TraceContext) context.Context {
	if !origin.IsValid() {
		return ctx
	}
	return context.WithValue(ctx, originKey{}, origin)
}

// originOf returns the span of a context; the zero value if there is none.
func originOf(ctx context.Context) job.TraceContext {
	origin, _ := ctx.Value(originKey{}).(job.TraceContext)
	return origin
}
