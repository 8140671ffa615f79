package api

import (
	"github.com/prometheus/client_golang/prometheus"

	"github.com/carillon-io/carillon/apierr"
)

var (
	requestsDesc = prometheus.NewDesc("carillon_api_requests_total", "Requests by verb and code; code ok is success.", []string{"verb", "code"}, nil)
	durationDesc = prometheus.NewDesc("carillon_api_request_duration_seconds", "How long requests took from their arrival to their reply, by the way they came.", []string{"verb", "via"}, nil)
	underWayDesc = prometheus.NewDesc("carillon_api_requests_in_flight", "Requests that have no reply yet.", nil, nil)
)

// requestCollector shows the counters of requests.
type requestCollector struct{ executor func() *Executor }

// Describe implements [prometheus.Collector].
func (c *requestCollector) Describe(ch chan<- *prometheus.Desc) {
	ch <- requestsDesc
	ch <- durationDesc
	ch <- underWayDesc
}

// Collect implements [prometheus.Collector].
func (c *requestCollector) Collect(ch chan<- prometheus.Metric) {
	x := c.executor()
	if x == nil {
		return
	}
	ch <- prometheus.MustNewConstMetric(underWayDesc, prometheus.GaugeValue, float64(x.underWay.Load()))
	for verb, st := range x.stats {
		for over := range ways {
			if r := st.took[over].Read(); r.Count > 0 {
				ch <- secondsOf(durationDesc, r, verb, over.String())
			}
		}
		st.each(func(code apierr.Code, n uint64) {
			text := string(code)
			if code == "" {
				text = "ok"
			}
			ch <- prometheus.MustNewConstMetric(requestsDesc, prometheus.CounterValue, float64(n), verb, text)
		})
	}
}
