package main

import (
	"maps"
	"strings"
	"testing"
)

// TestTraceFlags: without --traces, the variables have no effect; the ratio is checked; a ratio of 0 is not the default.
func TestTraceFlags(t *testing.T) {
	t.Setenv("OTEL_EXPORTER_OTLP_TRACES_HEADERS", "")
	t.Setenv("OTEL_EXPORTER_OTLP_HEADERS", "api-key=a%20b, X-Team = x=y ,")
	if o, err := (&traceFlags{TraceRatio: 7}).options(); err != nil || o.Endpoint != "" || o.Headers != nil {
		t.Errorf("off: %+v, %v", o, err)
	}
	o, err := (&traceFlags{Traces: "http://c:4318", TraceRatio: 0.5}).options()
	if err != nil || o.Endpoint != "http://c:4318" || o.Ratio != 0.5 || !maps.Equal(o.Headers, map[string]string{"api-key": "a b", "X-Team": "x=y"}) {
		t.Errorf("%+v, %v", o, err)
	}
	if o, err := (&traceFlags{Traces: "http://c:4318"}).options(); err != nil || o.Ratio >= 0 {
		t.Errorf("no share: %+v, %v", o, err)
	}
	if _, err := (&traceFlags{Traces: "http://c:4318", TraceRatio: 1.1}).options(); err == nil || !strings.Contains(err.Error(), "want 0 to 1") {
		t.Errorf("too much: %v", err)
	}
	t.Setenv("OTEL_EXPORTER_OTLP_TRACES_HEADERS", "secret")
	_, err = (&traceFlags{Traces: "http://c:4318", TraceRatio: 1}).options()
	if err == nil || !strings.Contains(err.Error(), "OTEL_EXPORTER_OTLP_TRACES_HEADERS") || strings.Contains(err.Error(), "secret") {
		t.Errorf("bad headers: %v", err)
	}
}
