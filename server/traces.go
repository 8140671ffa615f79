package server

import (
	"context"
	"fmt"

	"github.com/carillon-io/carillon/api"
	"github.com/carillon-io/carillon/dispatch"
	"github.com/carillon-io/carillon/tracing"
)

// TraceOptions configure the tracing of requests and attempts. The zero value traces nothing.
type TraceOptions struct {
	Endpoint string            // collector that accepts OTLP over HTTP, such as http://127.0.0.1:4318
	Headers  map[string]string // headers of the requests to it, such as the collector's key

	// Ratio is the share of requests and of runs that are sampled, from 0 to 1; 0 is the default, 1. The
	// decision of a caller to sample or not always counts. Negative: only what a caller has decided to sample.
	Ratio float64
}

// tracing converts the options to those of package tracing.
func (o TraceOptions) tracing() tracing.Options {
	ratio := o.Ratio
	switch {
	case ratio == 0:
		ratio = 1
	case ratio < 0:
		ratio = 0
	}
	return tracing.Options{Endpoint: o.Endpoint, Headers: o.Headers, Ratio: ratio}
}

func (o TraceOptions) validate() error {
	if o.Endpoint == "" {
		return nil
	}
	if err := o.tracing().Validate(); err != nil {
		return fmt.Errorf("options: %w", err)
	}
	return nil
}

// openTraces starts tracing, if the options want that. It does not wait for the collector.
func (s *Server) openTraces(context.Context) (err error) {
	if s.opts.Traces.Endpoint == "" {
		return nil
	}
	o := s.opts.Traces.tracing()
	o.Version, o.Node, o.Logger = s.opts.Version, s.opts.Node, s.opts.Logger
	s.tracer, err = tracing.Open(o)
	return err
}

// attemptTracer returns the tracer of attempts; nil if attempts are not traced.
func (s *Server) attemptTracer() dispatch.Tracer {
	if s.tracer == nil {
		return nil
	}
	return s.tracer
}

// requestTracer returns the tracer of requests; nil if requests are not traced.
func (s *Server) requestTracer() api.Tracer {
	if s.tracer == nil {
		return nil
	}
	return s.tracer
}
