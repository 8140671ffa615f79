package tracing

import (
	"errors"
	"fmt"
	"log/slog"
	"net/url"
	"strings"
)

// Options set up a [Tracer] with an exporter of its own.
type Options struct {
	// Endpoint is where spans are posted, as OTLP over HTTP in JSON. Without a path it is /v1/traces.
	Endpoint string
	// Headers go with each post, such as the key of a collector.
	Headers map[string]string
	// Ratio is the share of traces that are sampled if nobody has decided that before; 0 to 1. The zero
	// value samples what a caller sampled, and nothing else.
	Ratio float64

	Version string       // of the program; may be empty
	Node    string       // names this process among others; may be empty
	Logger  *slog.Logger // hears of spans that are lost, once a minute; default slog.Default()
}

// endpointPath is where a collector takes spans unless told otherwise.
const endpointPath = "/v1/traces"

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

// Validate tells what is wrong with the options, without opening anything; [Open] does too.
func (o Options) Validate() error {
	u, err := url.Parse(o.Endpoint)
	switch {
	case err != nil:
		return errors.New("traces: the endpoint is no URL; want one such as http://127.0.0.1:4318")
	case u.Scheme != "http" && u.Scheme != "https", u.Host == "":
		return fmt.Errorf("traces: the endpoint %s is no URL of a collector; want one such as http://127.0.0.1:4318", u.Redacted())
	case !(o.Ratio >= 0 && o.Ratio <= 1):
		return fmt.Errorf("traces: the ratio is %g; want 0 to 1", o.Ratio)
	}
	return nil
}
