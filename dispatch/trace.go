package dispatch

import (
	"context"
	"net/http"
	"strings"
	"time"

	"github.com/carillon-io/carillon/job"
)

// The headers of a trace, as W3C Trace Context names them.
const (
	headerTraceparent = "traceparent"
	headerTracestate  = "tracestate"
)

// Tracer follows attempts from their launch to their outcome. Its methods are safe for concurrent use and
// do not wait for anything.
type Tracer interface {
	// Attempt begins to follow an attempt that came to the dispatcher at an instant. What it returns stands
	// for the attempt in the other methods, and is never nil. An attempt whose end came first is forgotten
	// without a call of Ended.
	Attempt(d *job.Delivery, launched time.Time) context.Context
	// Headers returns the traceparent and the tracestate for the target. An empty parent: the target gets
	// the job's own headers; an empty state: none.
	Headers(attempt context.Context) (parent, state string)
	// Within returns ctx with the attempt's span in it, for what runs in this process.
	Within(ctx, attempt context.Context) context.Context
	// Ended ends the span.
	Ended(attempt context.Context, d *job.Delivery, o job.Outcome)
}

// traceHeaders are what the target gets of a trace; zero: nothing.
type traceHeaders struct{ parent, state string }

// setIn sets the headers of a request. The state of another trace does not go with ours.
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

// isTraceHeader tells whether a job's own header gives way to that of a trace, whatever its case.
func isTraceHeader(name string) bool {
	return strings.EqualFold(name, headerTraceparent) || strings.EqualFold(name, headerTracestate)
}

// followed is what is kept of an attempt for the tracer.
type followed struct {
	launched time.Time       // when it came to the dispatcher
	span     context.Context // what the tracer made of it; nil before it begins. Guarded as the attempt's phase
}

// follow begins to follow an attempt, unless it has been begun before. The caller is the one goroutine that
// begins the attempt, or the one that tells its outcome.
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

// unfollow ends the span of an attempt. One whose sender never began has been waiting all the time.
func (l *ledger) unfollow(a *attempt, o job.Outcome) {
	if a.followed == nil {
		return
	}
	l.tracer.Ended(l.follow(a), a.delivery, o)
}

// traceHeaders returns what the target of an attempt that has begun gets of its trace.
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
