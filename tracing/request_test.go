package tracing

import (
	"context"
	"strings"
	"testing"
)

const (
	callerTrace = "0af7651916cd43dd8448eb211c80319c"
	callerSpan  = "b7ad6b7169203331"
)

// TestRequestsContinueTheirCallers: whoever is sampled is followed, whoever is not is not, and nothing that a
// caller writes in a header breaks a request.
func TestRequestsContinueTheirCallers(t *testing.T) {
	c := newCollector(t, nil)
	tracer := openTracer(t, Options{Endpoint: c.URL, Ratio: 1})
	ask := func(verb string, headers map[string]string) (kept bool) {
		ctx := tracer.Request(context.Background(), verb, "nats", func(name string) string { return headers[name] })
		tracer.Concerns(ctx, "a", "")
		kept = tracer.Origin(ctx).IsValid()
		tracer.Answered(ctx, "acme", "", false)
		return kept
	}
	for name, x := range map[string]struct {
		headers   map[string]string
		kept      bool
		continues bool
	}{
		"sampled":   {map[string]string{"traceparent": "00-" + callerTrace + "-" + callerSpan + "-01", "tracestate": "v=1"}, true, true},
		"canonical": {map[string]string{"Traceparent": "00-" + callerTrace + "-" + callerSpan + "-01"}, true, true},
		"unsampled": {map[string]string{"traceparent": "00-" + callerTrace + "-" + callerSpan + "-00"}, false, false},
		"none":      {nil, true, false},
		"broken":    {map[string]string{"traceparent": "00-" + strings.Repeat("0", 32) + "-x-01", "tracestate": strings.Repeat("x", 4096)}, true, false},
		"huge":      {map[string]string{"traceparent": strings.Repeat("0", 1<<20)}, true, false},
	} {
		if kept := ask(name, x.headers); kept != x.kept {
			t.Errorf("%s: kept %t", name, kept)
		}
		tracer.pipeline.provider.ForceFlush(t.Context())
		spans := c.named(name)
		if len(spans) == 1 != x.kept {
			t.Errorf("%s: %d spans", name, len(spans))
		} else if x.kept && (spans[0]["parentSpanId"] == callerSpan) != x.continues || x.continues && spans[0]["traceId"] != callerTrace {
			t.Errorf("%s: %v", name, spans[0])
		}
	}
	if s := c.named("sampled")[0]; s["traceState"] != "v=1" || s["kind"] != 2.0 || attributesIn(s)["carillon.via"] != "nats" {
		t.Errorf("%v", s)
	}
}

// TestAnswers: a span says what was asked and how that went. What a caller may get wrong is no error of the
// server.
func TestAnswers(t *testing.T) {
	c := newCollector(t, nil)
	tracer := openTracer(t, Options{Endpoint: c.URL, Ratio: 1})
	header := func(string) string { return "" }
	ctx := tracer.Request(context.Background(), "jobs.get", "http", header)
	tracer.Concerns(ctx, strings.Repeat("ü", 500), "")
	tracer.Answered(ctx, "acme", "not_found", false)
	ctx = tracer.Request(context.Background(), "calendars.get", "http", header)
	tracer.Concerns(ctx, "holidays", "")
	tracer.Answered(ctx, "", "unavailable", true)
	ctx = tracer.Request(context.Background(), "runs.report", "local", nil)
	tracer.Concerns(ctx, "", "r-1")
	tracer.Answered(ctx, "acme", "", false)
	tracer.Close(context.Background())

	get, calendar, report := c.named("jobs.get")[0], c.named("calendars.get")[0], c.named("runs.report")[0]
	if a := attributesIn(get); a["carillon.job"] != strings.Repeat("ü", 128) || a["carillon.code"] != "not_found" || a["carillon.tenant"] != "acme" || get["status"].(map[string]any)["code"] != nil {
		t.Errorf("%v", get)
	}
	if a := attributesIn(calendar); a["carillon.calendar"] != "holidays" || a["carillon.job"] != nil || calendar["status"].(map[string]any)["code"] != 2.0 {
		t.Errorf("%v", calendar)
	}
	if a := attributesIn(report); a["carillon.run_id"] != "r-1" || report["kind"] != 1.0 {
		t.Errorf("%v", report)
	}
}
