package carillon

import (
	"context"
	"fmt"

	"github.com/carillon-io/carillon/api"
	"github.com/carillon-io/carillon/dispatch"
	"github.com/carillon-io/carillon/tracing"
)

// TraceOptions say whether and where requests and attempts are traced. The zero value traces nothing.
type TraceOptions struct {
	Endpoint string            // of a collector that takes OTLP over HTTP, such as http://127.0.0.1:4318
	Headers  map[string]string // go with what is sent there, such as the collector's key

	// Ratio is the share of requests and of runs that are sampled, from 0 to 1; default 1. What a caller has
	// decided to sample, or not to, is followed in any case. Negative: nothing but what a caller decided.
	Ratio float64
}

// tracing returns the options as the package that traces has them.
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

// openTraces begins to trace, if that is wanted. It does not wait for the collector.
func (s *Server) openTraces(context.Context) (err error) {
	if s.opts.Traces.Endpoint == "" {
		return nil
	}
	o := s.opts.Traces.tracing()
	o.Version, o.Node, o.Logger = s.opts.Version, s.opts.Node, s.opts.Logger
	s.tracer, err = tracing.Open(o)
	return err
}

// attemptTracer returns who follows attempts; nil if nobody does.
func (s *Server) attemptTracer() dispatch.Tracer {
	if s.tracer == nil {
		return nil
	}
	return s.tracer
}

// requestTracer returns who follows requests; nil if nobody does.
func (s *Server) requestTracer() api.Tracer {
	if s.tracer == nil {
		return nil
	}
	return s.tracer
}
