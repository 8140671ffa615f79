// Package metrics shows the readings of a node to Prometheus: those of its engine, its data directory, its ways of
// delivery, its requests, its cluster and its process. It is the only package that knows Prometheus. It counts nothing
// itself: each scrape reads the counters of the parts.
package metrics

import (
	"cmp"
	"log/slog"
	"net/http"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promhttp"

	"github.com/carillon-io/carillon/api"
	"github.com/carillon-io/carillon/scheduler"
)

// Options say what is shown. Each nil value shows nothing. The functions are called at each scrape, from any goroutine.
type Options struct {
	api.Node

	Logger *slog.Logger // default slog.Default()

	Engine Engine
	// Executor returns what carries out requests at the moment; nil: nothing just now.
	Executor func() *api.Executor
	// Storage returns the readings of the data directory; nil: there is none just now.
	Storage    func() *Storage
	Deliveries func() *Deliveries
	NATS       func() EmbeddedNATS
}

// Engine is the part of an engine that is shown.
type Engine interface {
	Status() scheduler.Status
}

// scrapesMax bounds the scrapes at a time; more are refused.
const scrapesMax = 8

// New returns the handler of /metrics. Without an engine it shows the process and its NATS server, as a witness has
// them.
func New(opts Options) http.Handler {
	opts.Version, opts.Logger = cmp.Or(opts.Version, "dev"), cmp.Or(opts.Logger, slog.Default())
	return promhttp.HandlerFor(newRegistry(opts), promhttp.HandlerOpts{
		ErrorLog: slog.NewLogLogger(opts.Logger.Handler(), slog.LevelWarn), MaxRequestsInFlight: scrapesMax,
	})
}

// newRegistry returns a registry with everything that Prometheus is shown.
func newRegistry(opts Options) *prometheus.Registry {
	r := prometheus.NewRegistry()
	registerProcess(r, opts)
	if opts.Engine != nil {
		r.MustRegister(&engineCollector{engine: opts.Engine, version: opts.Version})
	}
	if opts.Storage != nil {
		r.MustRegister(&storageCollector{opts.Storage})
	}
	if opts.Deliveries != nil {
		r.MustRegister(&deliveryCollector{opts.Deliveries})
	}
	if opts.Executor != nil {
		r.MustRegister(&requestCollector{opts.Executor}, &doorCollector{opts.Node})
	}
	if opts.Cluster != nil {
		r.MustRegister(&clusterCollector{opts.Cluster})
	}
	return r
}
