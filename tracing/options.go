package tracing

import (
	"fmt"
	"log/slog"
	"net/url"
	"strings"

	"github.com/carillon-io/carillon/serverurl"
)

// Options configure a [Tracer] with an exporter of its own.
type Options struct {
	// Endpoint is the URL to which spans are posted, as OTLP over HTTP in JSON. A URL without a path gets
	// /v1/traces. It must be set.
	Endpoint string
	// Headers are sent with each post, such as the key for a collector.
	Headers map[string]string
	// Ratio is the share of traces, 0 to 1, that are sampled if no caller has decided that before. 0 samples
	// only what a caller has sampled.
	Ratio float64

	Version string       // of the program; may be empty
	Node    string       // names this process among others; may be empty
	Logger  *slog.Logger // receives lost spans, at most once a minute; default slog.Default()
}

// endpointPath is the default path of a collector for spans.
const endpointPath = "/v1/traces"

// withDefaults returns a copy with the defaults set. It leaves an endpoint that is no URL to Validate.
func (o Options) withDefaults() Options {
	if o.Logger == nil {
		o.Logger = slog.Default()
	}
	if u, err := url.Parse(o.Endpoint); err == nil && strings.Trim(u.Path, "/") == "" {
		u.Path = endpointPath
		o.Endpoint = u.String()
	}
	return o
}

// Validate returns an error that says what is wrong with the options, nil if they are valid. [Open]
// calls it too.
func (o Options) Validate() error {
	u, err := serverurl.Parse(o.Endpoint)
	switch {
	case err != nil:
		return fmt.Errorf("traces: the endpoint %w; want one such as http://127.0.0.1:4318", err)
	case u.Scheme != "http" && u.Scheme != "https", u.Host == "":
		// Without the text, which may have a password.
		return fmt.Errorf("traces: the endpoint is no URL of a collector: it has the scheme %s; want one such as http://127.0.0.1:4318", u.Scheme)
	case !(o.Ratio >= 0 && o.Ratio <= 1):
		return fmt.Errorf("traces: the ratio is %g; want 0 to 1", o.Ratio)
	}
	return nil
}
