package metrics

import (
	"github.com/prometheus/client_golang/prometheus"

	"github.com/carillon-io/carillon/api"
)

var (
	// Descriptions of what concerns the door of the server, and not its engine.
	droppedDesc  = prometheus.NewDesc("carillon_requests_dropped_total", "Requests over NATS that were dropped since the start because their reply would go to a subject that is no inbox.", nil, nil)
	warningsDesc = prometheus.NewDesc("carillon_warnings", "What is wrong around the server, as the warnings of its status have it, such as JetStream streams that capture requests.", nil, nil)
)

// doorCollector shows the dropped requests, and the warnings. It reads the warnings of the last check and does not
// check itself, so that a scrape never waits.
type doorCollector struct{ node api.Node }

// Describe implements [prometheus.Collector].
func (c *doorCollector) Describe(ch chan<- *prometheus.Desc) {
	ch <- droppedDesc
	ch <- warningsDesc
}

// Collect implements [prometheus.Collector].
func (c *doorCollector) Collect(ch chan<- prometheus.Metric) {
	ch <- prometheus.MustNewConstMetric(droppedDesc, prometheus.CounterValue, float64(c.node.Inboxes.Dropped()))
	ch <- prometheus.MustNewConstMetric(warningsDesc, prometheus.GaugeValue, float64(c.node.Warned()))
}
