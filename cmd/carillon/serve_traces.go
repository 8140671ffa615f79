package main

import (
	"fmt"
	"net/url"
	"os"
	"strings"

	"github.com/carillon-io/carillon/server"
)

// traceFlags are the flags for OpenTelemetry traces. Without --traces nothing is traced, and the request path pays
// nothing for it.
type traceFlags struct {
	Traces     string  `help:"Send OpenTelemetry traces of requests and runs to this collector, as OTLP over HTTP; headers for it in OTEL_EXPORTER_OTLP_HEADERS." placeholder:"URL" secret:"user" instead:"headers in OTEL_EXPORTER_OTLP_HEADERS" env:"CARILLON_TRACES"`
	TraceRatio float64 `help:"Share of the requests and runs that are traced, 0 to 1, unless the caller has decided." default:"1" env:"CARILLON_TRACE_RATIO"`
}

// headerVariables are the environment variables by which OpenTelemetry sets the headers of an exporter; the first that
// is set counts. They are variables and not flags, because the headers carry secrets and the command line of a process
// is public.
var headerVariables = []string{"OTEL_EXPORTER_OTLP_TRACES_HEADERS", "OTEL_EXPORTER_OTLP_HEADERS"}

// options checks the flags.
func (f *traceFlags) options() (o server.TraceOptions, err error) {
	if f.Traces == "" {
		return o, nil
	}
	if !(f.TraceRatio >= 0 && f.TraceRatio <= 1) {
		return o, fmt.Errorf("--trace-ratio is %g; want 0 to 1", f.TraceRatio)
	}
	o.Endpoint, o.Ratio = f.Traces, f.TraceRatio
	if o.Ratio == 0 {
		o.Ratio = -1 // only requests and runs that a caller decided to trace
	}
	for _, name := range headerVariables {
		if text := os.Getenv(name); text != "" {
			o.Headers, err = parseTraceHeaders(name, text)
			break
		}
	}
	return o, err
}

// parseTraceHeaders reads name=value pairs separated by commas, the values escaped as in URLs. Its errors do not contain
// values, which are often secrets.
func parseTraceHeaders(variable, text string) (map[string]string, error) {
	headers := make(map[string]string)
	for pair := range strings.SplitSeq(text, ",") {
		if strings.TrimSpace(pair) == "" {
			continue
		}
		name, value, ok := strings.Cut(pair, "=")
		name = strings.TrimSpace(name)
		value, err := url.PathUnescape(strings.TrimSpace(value))
		if !ok || name == "" || err != nil {
			return nil, fmt.Errorf("%s: a header is not of the form name=value with %%XX for special characters", variable)
		}
		headers[name] = value
	}
	return headers, nil
}
