package tracing

import (
	"encoding/json"
	"strconv"
	"time"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/trace"
)

// The types of this file are the JSON form of ExportTraceServiceRequest of OTLP 1: ids in hexadecimal,
// 64-bit numbers as strings, enumerations as numbers.

type otlpRequest struct {
	ResourceSpans []otlpResourceSpans `json:"resourceSpans"`
}

type otlpResourceSpans struct {
	Resource   otlpResource     `json:"resource"`
	ScopeSpans []otlpScopeSpans `json:"scopeSpans"`
}

type otlpResource struct {
	Attributes []otlpAttribute `json:"attributes"`
}

type otlpScopeSpans struct {
	Scope otlpScope  `json:"scope"`
	Spans []otlpSpan `json:"spans"`
}

type otlpScope struct {
	Name string `json:"name"`
}

// otlpSpan is one span. Kind has the library's numbers, which are those of OTLP; the numbers of Status
// differ, see statusOf. Start and End are nanoseconds of Unix time.
type otlpSpan struct {
	TraceID      string          `json:"traceId"`
	SpanID       string          `json:"spanId"`
	TraceState   string          `json:"traceState,omitempty"`
	ParentSpanID string          `json:"parentSpanId,omitempty"`
	Flags        uint32          `json:"flags"`
	Name         string          `json:"name"`
	Kind         int             `json:"kind"`
	Start        string          `json:"startTimeUnixNano"`
	End          string          `json:"endTimeUnixNano"`
	Attributes   []otlpAttribute `json:"attributes,omitempty"`
	Events       []otlpEvent     `json:"events,omitempty"`
	Links        []otlpLink      `json:"links,omitempty"`
	Status       otlpStatus      `json:"status"`
}

type otlpEvent struct {
	Time       string          `json:"timeUnixNano"`
	Name       string          `json:"name"`
	Attributes []otlpAttribute `json:"attributes,omitempty"`
}

// otlpLink leads from an attempt to the span of its job's registration.
type otlpLink struct {
	TraceID    string `json:"traceId"`
	SpanID     string `json:"spanId"`
	TraceState string `json:"traceState,omitempty"`
	Flags      uint32 `json:"flags"`
}

type otlpStatus struct {
	Code    int    `json:"code,omitempty"`
	Message string `json:"message,omitempty"`
}

type otlpAttribute struct {
	Key   string    `json:"key"`
	Value otlpValue `json:"value"`
}

// otlpValue has one of its members.
type otlpValue struct {
	String *string  `json:"stringValue,omitempty"`
	Bool   *bool    `json:"boolValue,omitempty"`
	Int    *string  `json:"intValue,omitempty"`
	Double *float64 `json:"doubleValue,omitempty"`
}

// encode returns the request that exports spans. All spans are of one tracer, so they share resource and
// scope. Types of our own, and not those of the protocol's Go module, keep gRPC out of the program, which
// that module imports.
func encode(spans []sdktrace.ReadOnlySpan) ([]byte, error) {
	if len(spans) == 0 {
		return []byte(`{"resourceSpans":[]}`), nil
	}
	scoped := otlpScopeSpans{Scope: otlpScope{spans[0].InstrumentationScope().Name}, Spans: make([]otlpSpan, len(spans))}
	for i, s := range spans {
		scoped.Spans[i] = spanOf(s)
	}
	return json.Marshal(otlpRequest{[]otlpResourceSpans{{
		Resource:   otlpResource{attributesOf(spans[0].Resource().Attributes())},
		ScopeSpans: []otlpScopeSpans{scoped},
	}}})
}

// spanOf returns a span in OTLP.
func spanOf(s sdktrace.ReadOnlySpan) otlpSpan {
	at, parent := s.SpanContext(), s.Parent()
	out := otlpSpan{
		TraceID: at.TraceID().String(), SpanID: at.SpanID().String(), TraceState: at.TraceState().String(),
		Flags: flagsOf(at, parent), Name: s.Name(), Kind: int(s.SpanKind()),
		Start: nanos(s.StartTime()), End: nanos(s.EndTime()), Attributes: attributesOf(s.Attributes()), Status: statusOf(s.Status()),
	}
	if parent.HasSpanID() {
		out.ParentSpanID = parent.SpanID().String()
	}
	for _, e := range s.Events() {
		out.Events = append(out.Events, otlpEvent{nanos(e.Time), e.Name, attributesOf(e.Attributes)})
	}
	for _, l := range s.Links() {
		to := l.SpanContext
		out.Links = append(out.Links, otlpLink{to.TraceID().String(), to.SpanID().String(), to.TraceState().String(), flagsOf(to, to)})
	}
	return out
}

// OTLP's bits of flags beyond those of W3C: whether it is known that the other span is remote, and
// whether it is.
const (
	flagRemoteKnown = 1 << 8
	flagRemote      = 1 << 9
)

// flagsOf returns the flags of a span, and whether the related span other is remote: the parent of a span, or
// the other end of a link. Backends draw the border between two processes there.
func flagsOf(s, other trace.SpanContext) uint32 {
	flags := uint32(s.TraceFlags()) | flagRemoteKnown
	if other.IsRemote() {
		flags |= flagRemote
	}
	return flags
}

// The status codes of OTLP, whose numbers differ from the library's.
const (
	otlpOK    = 1
	otlpError = 2
)

// statusOf returns a span's status in OTLP.
func statusOf(s sdktrace.Status) otlpStatus {
	switch s.Code {
	case codes.Error:
		return otlpStatus{otlpError, s.Description}
	case codes.Ok:
		return otlpStatus{Code: otlpOK}
	default:
		return otlpStatus{}
	}
}

// attributesOf returns attributes in OTLP.
func attributesOf(all []attribute.KeyValue) []otlpAttribute {
	out := make([]otlpAttribute, len(all))
	for i, kv := range all {
		out[i] = otlpAttribute{string(kv.Key), valueOf(kv.Value)}
	}
	return out
}

// valueOf returns an attribute's value in OTLP. A list becomes its text; this package makes none.
func valueOf(v attribute.Value) otlpValue {
	switch v.Type() {
	case attribute.BOOL:
		b := v.AsBool()
		return otlpValue{Bool: &b}
	case attribute.INT64:
		n := strconv.FormatInt(v.AsInt64(), 10)
		return otlpValue{Int: &n}
	case attribute.FLOAT64:
		f := v.AsFloat64()
		return otlpValue{Double: &f}
	default:
		s := v.String()
		return otlpValue{String: &s}
	}
}

// nanos returns an instant in nanoseconds of Unix time, as a string.
func nanos(t time.Time) string { return strconv.FormatInt(t.UnixNano(), 10) }
