// Package metrics shows the readings of a node to Prometheus: those of its engine, its data directory, its ways of
// delivery, its requests, its cluster and its process. It is the only package that knows Prometheus. It counts nothing
// itself: each scrape reads the counters of the parts.
//
// metrics.go puts the registry together; each other file has the collector of one part: engine.go, storage.go,
// deliveries.go, requests.go, rights.go, doors.go, surroundings.go, cluster.go, certificates.go, process.go. figures.go
// has the readings that package server fills in; histogram.go shows a histogram of package histogram.
//
// Names, labels and units of the metrics are a contract with dashboards and alerts: docs/metrics.md lists them, and a
// name is added rather than changed. Labels have few values: never the name of a job or a run, of which there may be
// millions. A collector has no state, so scrapes may run at the same time, and each sees readings of one moment of
// its part. Parts are read one after the other.
package metrics

import (
	"cmp"
	"log/slog"
	"net/http"
	"strconv"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promhttp"
	dto "github.com/prometheus/client_model/go"

	"github.com/carillon-io/carillon/api"
	"github.com/carillon-io/carillon/client"
	"github.com/carillon-io/carillon/scheduler"
)

// Options say what is shown. Each nil value shows nothing. The functions are called at each scrape, from any
// goroutine. They are copied by New.
type Options struct {
	api.Node

	Logger *slog.Logger // default slog.Default()

	Insecure bool // the operator accepts listeners that are open to other machines

	// Shards returns the engines of the process with what each has of its own, in the order of their numbers: in a cluster of
	// several shards they come and go. nil for a witness.
	Shards func() []Shard
	// Divided says that the cluster has several shards, of which the process may have one.
	Divided bool
	// ShardsInAll is the number of shards of the cluster, of which the process may have some; 0 shows none.
	ShardsInAll int
	// Executor returns what carries out requests at the moment; nil: nothing just now.
	Executor func() *api.Executor
	// Deliveries must return a value.
	Deliveries func() *Deliveries
	// NATS returns the readings of the NATS server in this process.
	NATS func() EmbeddedNATS
	// Certificates returns the readings of the listeners with TLS.
	Certificates func() []Certificate
	// Quotas returns what tenants use of the quotas that are held outside the engine.
	Quotas func() Quotas
	// Rights count the refusals of the rights of callers.
	Rights Rights
	// Guarded returns what became of the requests of tenants to JetStream; nil without accounts of tenants.
	Guarded func() GuardedRequests
}

// Shard is an engine with what it has of its own. Each nil value shows nothing.
type Shard struct {
	Number uint32
	Engine Engine
	// Storage returns the readings of its log and its store; nil while it receives others.
	Storage func() *Storage
	// Cluster returns the state of its node and of the other nodes.
	Cluster func() *client.Cluster
}

// Engine is the part of an engine that is shown. Its methods are called once for each scrape, from any goroutine, and
// must not block.
type Engine interface {
	Status() scheduler.Status
	TenantQuotas() []scheduler.TenantQuota
}

// scrapesMax bounds the scrapes at a time; more are refused. A scrape is cheap, but one for each of many connections
// at once would take processor time from launches.
const scrapesMax = 8

// New returns the handler of /metrics. Without an engine it shows the process and its NATS server, as a witness has
// them.
func New(opts Options) http.Handler {
	opts.Version, opts.Logger = cmp.Or(opts.Version, "dev"), cmp.Or(opts.Logger, slog.Default())
	process := newRegistry(opts)
	all := prometheus.GathererFunc(func() ([]*dto.MetricFamily, error) {
		return prometheus.Gatherers{process, shardRegistry(opts)}.Gather()
	})
	return promhttp.HandlerFor(all, promhttp.HandlerOpts{
		ErrorLog: slog.NewLogLogger(opts.Logger.Handler(), slog.LevelWarn), MaxRequestsInFlight: scrapesMax,
	})
}

// newRegistry returns a registry with what Prometheus is shown of the process. It is not the global registry of the
// library, so that two servers in one process, as in tests, do not share metrics. A name that is registered twice
// panics here, at the start.
func newRegistry(opts Options) *prometheus.Registry {
	r := prometheus.NewRegistry()
	registerProcess(r, opts)
	if opts.Rights != nil {
		r.MustRegister(&rightsCollector{opts.Rights})
	}
	if opts.Guarded != nil {
		r.MustRegister(&guardCollector{opts.Guarded})
	}
	if opts.Quotas != nil {
		r.MustRegister(&quotaCollector{opts.Quotas})
	}
	if opts.Deliveries != nil {
		r.MustRegister(&deliveryCollector{opts.Deliveries})
	}
	if opts.Executor != nil {
		r.MustRegister(&requestCollector{opts.Executor}, &doorCollector{opts.Node})
	}
	if opts.Certificates != nil {
		r.MustRegister(&certificateCollector{opts.Certificates})
	}
	return r
}

// shardRegistry returns a registry with the metrics of the shards that the process has at this scrape. Those of an engine always have the label shard. Those of its log, its store
// and its node have it if there are several shards; with one they stay as they were before there were shards.
func shardRegistry(opts Options) *prometheus.Registry {
	r := prometheus.NewRegistry()
	if opts.Shards == nil {
		return r
	}
	shards := opts.Shards()
	r.MustRegister(&engineCollector{shards, opts.Version}, allShards(opts.ShardsInAll))
	for _, s := range shards {
		labelled := prometheus.Registerer(r)
		if opts.Divided {
			labelled = prometheus.WrapRegistererWith(prometheus.Labels{"shard": strconv.FormatUint(uint64(s.Number), 10)}, r)
		}
		if s.Storage != nil {
			labelled.MustRegister(&storageCollector{s.Storage})
		}
		if s.Cluster != nil {
			labelled.MustRegister(&clusterCollector{s.Cluster})
		}
	}
	return r
}
