package embedded_test

import (
	"context"
	"testing"

	sdktrace "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/sdk/trace/tracetest"
	"go.opentelemetry.io/otel/trace"

	"github.com/carillon-io/carillon/embedded"
	"github.com/carillon-io/carillon/tracing"
)

// TestTraced uses the program's own OpenTelemetry: a registration is a span of the program's trace, the run
// links to it, and what the handler does nests in its attempt.
func TestTraced(t *testing.T) {
	recorder := tracetest.NewSpanRecorder()
	provider := sdktrace.NewTracerProvider(sdktrace.WithSpanProcessor(recorder))
	program := provider.Tracer("program")
	s := open(t, t.TempDir(), embedded.Options{Tracer: tracing.New(provider, 1), Handlers: handlers{
		"h": func(ctx context.Context, _ embedded.Run) error {
			_, span := program.Start(ctx, "work")
			span.End()
			return nil
		},
	}})
	ctx, checkout := program.Start(t.Context(), "checkout")
	if _, _, err := s.Put(ctx, yearly("a", "h")); err != nil {
		t.Fatal(err)
	}
	checkout.End()
	runWith(t, s, trigger(t, s, "a").RunID, "succeeded")
	mustClose(t, s)

	spans := map[string]sdktrace.ReadOnlySpan{}
	for _, span := range recorder.Ended() {
		spans[span.Name()] = span
	}
	put, attempt, work := spans["jobs.put"], spans["attempt handler"], spans["work"]
	if put == nil || attempt == nil || work == nil {
		t.Fatalf("only %v", spans)
	}
	if put.Parent().SpanID() != checkout.SpanContext().SpanID() || put.SpanKind() != trace.SpanKindInternal {
		t.Errorf("the registration is a child of %s", put.Parent().SpanID())
	}
	if links := attempt.Links(); len(links) != 1 || links[0].SpanContext.SpanID() != put.SpanContext().SpanID() {
		t.Errorf("the attempt links to %v", links)
	}
	if work.Parent().SpanID() != attempt.SpanContext().SpanID() || work.SpanContext().TraceID() == put.SpanContext().TraceID() {
		t.Errorf("the work is a child of %s in %s", work.Parent().SpanID(), work.SpanContext().TraceID())
	}
}
