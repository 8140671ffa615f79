package metrics

import (
	"github.com/prometheus/client_golang/prometheus"

	"github.com/carillon-io/carillon/api"
)

var (
	// Descriptions of the metrics of requests. Verbs and codes are fixed sets; the name of a job or of a caller is
	// no label.
	requestsDesc = prometheus.NewDesc("carillon_api_requests_total", "Requests by verb and code; code ok is success.", []string{"verb", "code"}, nil)
	durationDesc = prometheus.NewDesc("carillon_api_request_duration_seconds", "How long requests took from their arrival to their reply, by the way they came.", []string{"verb", "via"}, nil)
	unsentDesc   = prometheus.NewDesc("carillon_api_refusals_dropped_total", "Refusals over NATS that were not sent, because too many of the same tenant waited.", nil, nil)
	underWayDesc = prometheus.NewDesc("carillon_api_requests_in_flight", "Requests that have no reply yet.", nil, nil)
)

// requestCollector shows the counters of requests. The executor is asked for at each scrape, because a node may have
// another one later; its counters begin at 0, which Prometheus treats as a restart.
type requestCollector struct{ executor func() *api.Executor }

// Describe implements [prometheus.Collector].
func (c *requestCollector) Describe(ch chan<- *prometheus.Desc) {
	ch <- requestsDesc
	ch <- durationDesc
	ch <- underWayDesc
	ch <- unsentDesc
}

// Collect implements [prometheus.Collector]. Verbs and codes that have not occurred are absent, because all
// combinations would be some four hundred series.
func (c *requestCollector) Collect(ch chan<- prometheus.Metric) {
	x := c.executor()
	if x == nil {
		return
	}
	counts := x.Counts()
	ch <- prometheus.MustNewConstMetric(underWayDesc, prometheus.GaugeValue, float64(counts.InProgress))
	ch <- prometheus.MustNewConstMetric(unsentDesc, prometheus.CounterValue, float64(counts.RefusalsDropped))
	for verb, of := range counts.Verbs {
		for way, took := range of.Took {
			ch <- secondsOf(durationDesc, took, verb, way)
		}
		for code, n := range of.Ended {
			text := string(code)
			if code == "" {
				text = "ok"
			}
			ch <- prometheus.MustNewConstMetric(requestsDesc, prometheus.CounterValue, float64(n), verb, text)
		}
	}
}
