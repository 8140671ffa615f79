package metrics

import (
	"time"

	"github.com/prometheus/client_golang/prometheus"
)

var (
	// Descriptions of the listeners with TLS. An instant is shown rather than the time that is left, so that a rule
	// stays right between two scrapes.
	certificateEndsDesc     = prometheus.NewDesc("carillon_tls_ends_timestamp_seconds", "When the certificate of a listener ends (file cert), or the last of its authorities (file ca).", []string{"listener", "file"}, nil)
	certificateReloadsDesc  = prometheus.NewDesc("carillon_tls_reloads_total", "Changed certificate files that came into use.", []string{"listener"}, nil)
	certificateFailuresDesc = prometheus.NewDesc("carillon_tls_reload_failures_total", "Changed certificate files that could not be used, so that the old ones stayed in use.", []string{"listener"}, nil)
	certificateIsBadDesc    = prometheus.NewDesc("carillon_tls_files_bad", "1 while the certificate files that are there cannot be used, so that the old ones are in use.", []string{"listener"}, nil)
)

// certificateCollector shows the certificates of the listeners.
type certificateCollector struct{ certificates func() []Certificate }

// Describe implements [prometheus.Collector].
func (c *certificateCollector) Describe(ch chan<- *prometheus.Desc) {
	for _, desc := range []*prometheus.Desc{certificateEndsDesc, certificateReloadsDesc, certificateFailuresDesc, certificateIsBadDesc} {
		ch <- desc
	}
}

// Collect implements [prometheus.Collector].
func (c *certificateCollector) Collect(ch chan<- prometheus.Metric) {
	for _, one := range c.certificates() {
		ends := func(file string, at time.Time) {
			if !at.IsZero() {
				ch <- prometheus.MustNewConstMetric(certificateEndsDesc, prometheus.GaugeValue, float64(at.Unix()), one.Listener, file)
			}
		}
		ends("cert", one.Ends)
		ends("ca", one.CAEnds)
		ch <- prometheus.MustNewConstMetric(certificateReloadsDesc, prometheus.CounterValue, float64(one.Reloads), one.Listener)
		ch <- prometheus.MustNewConstMetric(certificateFailuresDesc, prometheus.CounterValue, float64(one.Failures), one.Listener)
		ch <- prometheus.MustNewConstMetric(certificateIsBadDesc, prometheus.GaugeValue, truth(one.IsBad), one.Listener)
	}
}
