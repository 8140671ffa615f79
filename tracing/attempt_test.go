package tracing

import (
	"context"
	"encoding/json"
	"math/rand/v2"
	"strings"
	"testing"

	sdktrace "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/sdk/trace/tracetest"
	"go.opentelemetry.io/otel/trace"

	"github.com/carillon-io/carillon/job"
	"github.com/carillon-io/carillon/testkit"
)

// The trace of the sample run: another version of the program on the node that takes over must find it too.
const (
	sampleTrace = "bfb48cbbab6cd75dbeb95f546aca6168"
	sampleRoot  = "d4bde8688544f606"
)

var sampleOrigin = job.TraceContext{Trace: [16]byte{0xab, 15: 1}, Span: [8]byte{0xcd, 7: 2}, Flags: 1}

// TestAttemptsOfARun: the attempts of a run share its trace, whichever process makes them; the first is the
// root, the others are its children; each links to the registration and says what it is, and no secret.
func TestAttemptsOfARun(t *testing.T) {
	c := newCollector(t, nil)
	o := Options{Endpoint: c.URL, Headers: map[string]string{"Api-Key": "k"}, Ratio: 1, Version: "1.2", Node: "n1"}
	var parents []string
	for attempt := uint32(1); attempt <= 3; attempt++ {
		tracer := openTracer(t, o) // as after a crash
		d := delivery(0, attempt)
		d.Origin = sampleOrigin
		failure := "HTTP 503"
		if attempt == 3 {
			failure = ""
		}
		parents = append(parents, follow(tracer, d, failure))
		tracer.Close(context.Background())
	}
	if c.path != "/v1/traces" || c.header.Get("Api-Key") != "k" || c.header.Get("Content-Type") != "application/json" {
		t.Errorf("posted to %s with %v", c.path, c.header)
	}
	if c.resource["service.name"] != "carillon" || c.resource["service.version"] != "1.2" || c.resource["service.instance.id"] != "n1" {
		t.Errorf("the process is described as %v", c.resource)
	}
	spans := c.named("attempt http")
	if len(spans) != 3 {
		t.Fatalf("%d spans", len(spans))
	}
	for i, s := range spans {
		if s["traceId"] != sampleTrace || parents[i] != "00-"+sampleTrace+"-"+s["spanId"].(string)+"-01" {
			t.Errorf("attempt %d is span %v of trace %v, and its target got %s", i+1, s["spanId"], s["traceId"], parents[i])
		}
		if parent, ok := s["parentSpanId"]; i == 0 && (ok || s["spanId"] != sampleRoot) || i > 0 && parent != sampleRoot {
			t.Errorf("attempt %d is %v, a child of %v", i+1, s["spanId"], parent)
		}
		link := s["links"].([]any)[0].(map[string]any)
		if link["traceId"] != "ab000000000000000000000000000001" || link["spanId"] != "cd00000000000002" {
			t.Errorf("attempt %d links to %v", i+1, link)
		}
		checkAttempt(t, i+1, s)
	}
}

// checkAttempt checks what a span says of an attempt of the sample run, of which the third succeeds.
func checkAttempt(t *testing.T, number int, s map[string]any) {
	t.Helper()
	text, _ := json.Marshal(s)
	if strings.Contains(string(text), "secret") || s["kind"] != 3.0 {
		t.Errorf("attempt %d: %s", number, text)
	}
	want := map[string]any{
		"carillon.tenant": "acme", "carillon.job": "billing/daily", "carillon.run_id": "0000000000007-1764576000000",
		"carillon.attempt": string(rune('0' + number)), "carillon.scheduled_at": "2025-12-01T08:00:00.000Z", "carillon.lateness_ms": 3.0,
		"http.request.method": "PUT", "url.scheme": "https", "server.address": "Example.com", "server.port": "8443",
	}
	if number > 1 {
		delete(want, "carillon.lateness_ms")
	}
	got := attributesIn(s)
	for key, value := range want {
		if got[key] != value {
			t.Errorf("attempt %d: %s is %v, want %v", number, key, got[key], value)
		}
	}
	if len(got) != len(want) {
		t.Errorf("attempt %d says %v", number, got)
	}
	status := s["status"].(map[string]any)
	if failed := status["code"] == 2.0 && status["message"] == "HTTP 503"; failed != (number < 3) {
		t.Errorf("attempt %d has the status %v", number, status)
	}
	if s["startTimeUnixNano"] != "1764576000002000000" || s["endTimeUnixNano"] != "1764576000004000000" || s["events"].([]any)[0].(map[string]any)["timeUnixNano"] != "1764576000003000000" {
		t.Errorf("attempt %d: %s", number, text)
	}
}

// TestSampling: a run is sampled by its trace id or for its registration's sake, and the target learns which.
func TestSampling(t *testing.T) {
	c := newCollector(t, nil)
	tracer := openTracer(t, Options{Endpoint: c.URL, Ratio: 0.25})
	sampled := 0
	for n := range int64(400) {
		first, second := follow(tracer, delivery(n, 1), ""), follow(tracer, delivery(n, 2), "x")
		if first[:35] != second[:35] || first[52:] != second[52:] {
			t.Fatalf("attempts of one run: %s, %s", first, second)
		}
		if strings.HasSuffix(first, "-01") {
			sampled++
		}
	}
	if sampled < 60 || sampled > 140 {
		t.Errorf("%d of 400 runs are sampled; want about 100", sampled)
	}
	registered := delivery(1000, 1)
	registered.Origin = sampleOrigin
	for tracer.ratio.takes(traceOf(registered.Run, job.TraceContext{}, 0).id) {
		registered.Run.At++
	}
	if got := follow(tracer, registered, ""); !strings.HasSuffix(got, "-01") {
		t.Errorf("the run of a sampled registration goes as %s", got)
	}
	tracer.Close(context.Background())
	if got := len(c.named("attempt http")); got != 2*sampled+1 {
		t.Errorf("%d spans of %d sampled runs came", got, sampled)
	}
}

// TestRatioIsTheLibrarys: our decision on a trace is that of the library's sampler, for any share.
func TestRatioIsTheLibrarys(t *testing.T) {
	seed := testkit.Seed(t)
	r := rand.New(rand.NewPCG(seed, 0))
	for range 2000 {
		share := r.Float64() * 1.2
		var id trace.TraceID
		for i := range id {
			id[i] = byte(r.Uint32())
		}
		result := sdktrace.TraceIDRatioBased(share).ShouldSample(sdktrace.SamplingParameters{ParentContext: t.Context(), TraceID: id})
		if want := result.Decision == sdktrace.RecordAndSample; newRatio(share).takes(id) != want {
			t.Fatalf("share %g, trace %s: want %t (seed %d)", share, id, want, seed)
		}
	}
	for share, want := range map[float64]bool{0: false, -1: false, 1: true, 2: true} {
		if newRatio(share).takes(trace.TraceID{15: 1}) != want || newRatio(share).takes(trace.TraceID{8: 0xff, 15: 0xff}) != want {
			t.Errorf("share %g takes the other", share)
		}
	}
}

// TestOwnProvider: spans made with a program's provider are in the run's trace too, and what runs in a handler
// nests in them.
func TestOwnProvider(t *testing.T) {
	recorder := tracetest.NewSpanRecorder()
	provider := sdktrace.NewTracerProvider(sdktrace.WithSpanProcessor(recorder))
	tracer := New(provider, 1)
	d := delivery(0, 1)
	d.Target = job.Target{Kind: job.TargetHandler, Handler: "invoice"}
	attempt := tracer.Attempt(d, d.Run.At.Time())
	_, inner := provider.Tracer("program").Start(tracer.Within(t.Context(), attempt), "inner")
	inner.End()
	tracer.Ended(attempt, d, job.Outcome{})
	tracer.Close(t.Context())
	ended := recorder.Ended()
	if len(ended) != 2 || ended[0].Parent().SpanID() != ended[1].SpanContext().SpanID() || ended[1].SpanContext().TraceID().String() != sampleTrace {
		t.Fatalf("%d spans: %v", len(ended), ended)
	}
	if ended[1].Name() != "attempt handler" || ended[1].SpanKind() != trace.SpanKindInternal || tracer.Lost() != 0 {
		t.Errorf("%s of kind %s", ended[1].Name(), ended[1].SpanKind())
	}
}
