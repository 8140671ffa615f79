package api

import (
	"github.com/prometheus/client_golang/prometheus"

	"github.com/carillon-io/carillon/client"
	"github.com/carillon-io/carillon/inbox"
)

// Surroundings know what is wrong around a server: what it does not do itself, and what makes its promises weaker.
// Their methods are safe for concurrent use.
type Surroundings interface {
	// Look looks again, unless the last look was a moment ago. It takes half a second at most.
	Look()
	// Warnings returns what the last look found, each with what to do. It does not wait for anything.
	Warnings() []string
}

// addSurroundings adds to a status what is wrong around the server, and what was dropped.
func addSurroundings(info *client.Status, inboxes *inbox.Rule, around Surroundings) {
	info.DroppedRequests = inboxes.Dropped()
	if around != nil {
		info.Warnings = around.Warnings()
	}
}

var (
	droppedDesc  = prometheus.NewDesc("carillon_requests_dropped_total", "Requests over NATS that were dropped since the start because their reply would go to a subject that is no inbox.", nil, nil)
	warningsDesc = prometheus.NewDesc("carillon_warnings", "What is wrong around the server, as the warnings of its status have it, such as JetStream streams that capture requests.", nil, nil)
)

// doorCollector shows the requests that were dropped, and the warnings.
type doorCollector struct {
	inboxes *inbox.Rule
	around  Surroundings
}

// Describe implements [prometheus.Collector].
func (c *doorCollector) Describe(ch chan<- *prometheus.Desc) {
	ch <- droppedDesc
	ch <- warningsDesc
}

// Collect implements [prometheus.Collector].
func (c *doorCollector) Collect(ch chan<- prometheus.Metric) {
	warnings := 0
	if c.around != nil {
		warnings = len(c.around.Warnings())
	}
	ch <- prometheus.MustNewConstMetric(droppedDesc, prometheus.CounterValue, float64(c.inboxes.Dropped()))
	ch <- prometheus.MustNewConstMetric(warningsDesc, prometheus.GaugeValue, float64(warnings))
}
