package api

import (
	"fmt"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/carillon-io/carillon/client"
	"github.com/carillon-io/carillon/inbox"
)

// Surroundings report what is wrong around a server: conditions that the server does not cause but that weaken its
// promises. Their methods are safe for concurrent use.
type Surroundings interface {
	// Look checks the surroundings, unless it did so a moment ago. It takes at most half a second.
	Look()
	// Warnings returns what the last check found, each with what to do. It does not block.
	Warnings() []string
}

// addSurroundings adds to a status the warnings and the dropped requests.
func addSurroundings(info *client.Status, inboxes *inbox.Rule, around Surroundings) {
	info.DroppedRequests = inboxes.Dropped()
	if around != nil {
		info.Warnings = append(info.Warnings, around.Warnings()...)
	}
}

// warnLost adds to a status the warning that events were dropped.
func warnLost(info *client.Status) {
	if info.NoticesLost > 0 {
		info.Warnings = append(info.Warnings, fmt.Sprintf("%d events were dropped since the start, because too many waited to be published: "+
			"see that the stream of events takes them, or let more wait (--events-max-waiting); the runs themselves are whole (carillon export --runs)", info.NoticesLost))
	}
}

var (
	droppedDesc  = prometheus.NewDesc("carillon_requests_dropped_total", "Requests over NATS that were dropped since the start because their reply would go to a subject that is no inbox.", nil, nil)
	warningsDesc = prometheus.NewDesc("carillon_warnings", "What is wrong around the server, as the warnings of its status have it, such as JetStream streams that capture requests.", nil, nil)
)

// doorCollector shows the dropped requests, and the warnings.
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
