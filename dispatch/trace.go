package dispatch

import (
	"context"
	"net/http"
	"strings"
	"time"

	"github.com/carillon-io/carillon/job"
)

// The headers of a trace, with the names of W3C Trace Context.
const (
	headerTraceparent = "traceparent"
	headerTracestate  = "tracestate"
)

// Tracer traces attempts from their launch to their outcome. Its methods must be safe for concurrent use
// and must not block.
type Tracer interface {
	// Attempt begins the span of an attempt that was launched at launched. The context that it returns, which
	// is never nil, identifies the attempt in the other methods. If the attempt has ended meanwhile, Ended is
	// not called for this span, so it must not hold resources.
	Attempt(d *job.Delivery, launched time.Time) context.Context
	// Headers returns the values of traceparent and tracestate for the target. With an empty parent the target
	// gets the job's own headers; with an empty state it gets no tracestate.
	Headers(attempt context.Context) (parent, state string)
	// Within returns ctx with the attempt's span in it, for handlers in this process.
	Within(ctx, attempt context.Context) context.Context
	// Ended ends the span of the attempt, with its outcome.
	Ended(attempt context.Context, d *job.Delivery, o job.Outcome)
}

// traceHeaders are the values of the trace headers for a target; the zero value means none.
type traceHeaders struct{ parent, state string }

// setIn sets the headers of a request. It removes the job's own tracestate, which belongs to another
// trace.
func (t traceHeaders) setIn(h http.Header) {
	if t.parent == "" {
		return
	}
	h.Set(headerTraceparent, t.parent)
	h.Del(headerTracestate)
	if t.state != "" {
		h.Set(headerTracestate, t.state)
	}
}

// isTraceHeader reports whether a header of this name in a job is replaced by that of a trace. Case does
// not matter.
func isTraceHeader(name string) bool {
	return strings.EqualFold(name, headerTraceparent) || strings.EqualFold(name, headerTracestate)
}

// followed holds what an attempt needs for the tracer.
type followed struct {
	launched time.Time       // when Launch was called
	span     context.Context // from Tracer.Attempt; nil before the attempt begins. Guarded as the attempt's phase is
}

// follow returns the span of an attempt, and begins it if it has none yet. Only the goroutine that
// begins the attempt, or the one that concludes it, may call it.
func (l *ledger) follow(a *attempt) context.Context {
	switch {
	case a.followed == nil:
		return nil
	case a.followed.span != nil:
		return a.followed.span
	default:
		return l.tracer.Attempt(a.delivery, a.followed.launched)
	}
}

// unfollow ends the span of an attempt. If the sender never began, it first begins the span at the
// launch, so that the trace shows the time of waiting.
func (l *ledger) unfollow(a *attempt, o job.Outcome) {
	if a.followed == nil {
		return
	}
	l.tracer.Ended(l.follow(a), a.delivery, o)
}

// traceHeaders returns the trace headers for the target of an attempt that has begun.
func (l *ledger) traceHeaders(a *attempt) (t traceHeaders) {
	if a.followed != nil {
		t.parent, t.state = l.tracer.Headers(a.followed.span)
	}
	return t
}

// within returns the context of a sender with the attempt's span in it.
func (l *ledger) within(ctx context.Context, a *attempt) context.Context {
	if a.followed == nil {
		return ctx
	}
	return l.tracer.Within(ctx, a.followed.span)
}
