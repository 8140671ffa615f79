package scheduler

import (
	"context"

	"github.com/carillon-io/carillon/job"
)

// originKey is the context key of a request's span.
type originKey struct{}

// WithOrigin returns a context in which jobs are registered with a span: their runs will link to it. An empty span
// changes nothing.
func WithOrigin(ctx context.Context, origin job.TraceContext) context.Context {
	if !origin.IsValid() {
		return ctx
	}
	return context.WithValue(ctx, originKey{}, origin)
}

// originOf returns the span of a context, or the zero value if it has none.
func originOf(ctx context.Context) job.TraceContext {
	origin, _ := ctx.Value(originKey{}).(job.TraceContext)
	return origin
}
