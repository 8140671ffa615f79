package metrics

import "github.com/prometheus/client_golang/prometheus"

// GuardedRequests is what became of the requests of tenants to JetStream, and to the embedded NATS server itself, on this
// node since its start.
type GuardedRequests struct {
	Passed  uint64            // given to JetStream, or answered in the place of the server
	Refused map[string]uint64 // by reason; the reasons are a fixed set
	Waiting int               // in the lines of tenants now
}

var (
	guardPassedDesc  = prometheus.NewDesc("carillon_jetstream_requests_passed_total", "Requests of tenants to JetStream that this node gave to it, and questions to the server that it answered.", nil, nil)
	guardRefusedDesc = prometheus.NewDesc("carillon_jetstream_requests_refused_total", "Requests of tenants to JetStream that this node did not pass on: forbidden; crowded (the line of the tenant is full); waited (too long in it); absent (JetStream did not serve); dropped (a flood, without an answer).", []string{"reason"}, nil)
	guardWaitingDesc = prometheus.NewDesc("carillon_jetstream_requests_waiting", "Requests of tenants to JetStream that wait in the lines of their tenants.", nil, nil)
)

// guardCollector shows what became of the requests of tenants to JetStream.
type guardCollector struct{ guarded func() GuardedRequests }

// Describe implements [prometheus.Collector].
func (c *guardCollector) Describe(ch chan<- *prometheus.Desc) {
	ch <- guardPassedDesc
	ch <- guardRefusedDesc
	ch <- guardWaitingDesc
}

// Collect implements [prometheus.Collector].
func (c *guardCollector) Collect(ch chan<- prometheus.Metric) {
	g := c.guarded()
	ch <- prometheus.MustNewConstMetric(guardPassedDesc, prometheus.CounterValue, float64(g.Passed))
	for reason, n := range g.Refused {
		ch <- prometheus.MustNewConstMetric(guardRefusedDesc, prometheus.CounterValue, float64(n), reason)
	}
	ch <- prometheus.MustNewConstMetric(guardWaitingDesc, prometheus.GaugeValue, float64(g.Waiting))
}
