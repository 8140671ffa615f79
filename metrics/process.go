package metrics

import (
	"runtime"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"
)

var (
	// Descriptions of what every process shows. They are registered without an engine, so a witness has them too.
	buildDesc       = prometheus.NewDesc("carillon_build_info", "Always 1; the labels tell what the program was made of.", []string{"version", "go_version"}, nil)
	insecureDesc    = prometheus.NewDesc("carillon_insecure", "1 if the server runs with --insecure, else 0.", nil, nil)
	natsClientsDesc = prometheus.NewDesc("carillon_nats_clients", "Connections of clients to the embedded NATS server.", nil, nil)
	natsRoutesDesc  = prometheus.NewDesc("carillon_nats_routes", "Connections of the embedded NATS server to others of its cluster.", nil, nil)
	natsCurrentDesc = prometheus.NewDesc("carillon_nats_jetstream_current", "1 if JetStream serves in the embedded NATS server and is not behind, else 0.", nil, nil)
	natsLeaderDesc  = prometheus.NewDesc("carillon_nats_jetstream_leader", "1 if the embedded NATS server leads what JetStream keeps of streams, else 0.", nil, nil)
)

// registerProcess adds the metrics that every node shows. The memory and the garbage collector of the Go runtime
// belong to them, because both delay launches.
func registerProcess(r *prometheus.Registry, opts Options) {
	r.MustRegister(
		&processCollector{opts.Version, opts.Insecure, opts.NATS},
		collectors.NewGoCollector(),
		collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}),
	)
}

// processCollector shows the build of the process, and the NATS server in it.
type processCollector struct {
	version  string
	insecure bool
	nats     func() EmbeddedNATS // nil: there is none
}

// Describe implements [prometheus.Collector].
func (c *processCollector) Describe(ch chan<- *prometheus.Desc) {
	for _, desc := range []*prometheus.Desc{buildDesc, insecureDesc, natsClientsDesc, natsRoutesDesc, natsCurrentDesc, natsLeaderDesc} {
		ch <- desc
	}
}

// Collect implements [prometheus.Collector].
func (c *processCollector) Collect(ch chan<- prometheus.Metric) {
	gauge := func(desc *prometheus.Desc, value float64, labels ...string) {
		ch <- prometheus.MustNewConstMetric(desc, prometheus.GaugeValue, value, labels...)
	}
	gauge(buildDesc, 1, c.version, runtime.Version())
	gauge(insecureDesc, truth(c.insecure))
	if c.nats == nil {
		return
	}
	n := c.nats()
	gauge(natsClientsDesc, float64(n.Clients))
	gauge(natsRoutesDesc, float64(n.Routes))
	gauge(natsCurrentDesc, truth(n.IsCurrent))
	gauge(natsLeaderDesc, truth(n.IsLeader))
}
