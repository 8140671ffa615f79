package metrics

import "github.com/prometheus/client_golang/prometheus"

// Rights count what the rights of callers refused, since the start of the process. Their methods are safe for concurrent
// use. They return 0 on a server without rights.
type Rights interface {
	// Denied returns the requests without known credentials, those of known callers without the right, and the refused
	// clients of the embedded NATS server.
	Denied() (unknown, forbidden, logins uint64)
	// Refused returns how often a changed file of rights was bad.
	Refused() uint64
}

var (
	// Descriptions of what the rights of callers refused.
	authDeniedDesc = prometheus.NewDesc("carillon_auth_refused_total", "Requests that were refused since the start: without known credentials (unauthenticated), or for want of the right (forbidden); and connections to the embedded NATS server (nats_login).", []string{"reason"}, nil)
	badFileDesc    = prometheus.NewDesc("carillon_auth_file_refused_total", "Times since the start that the changed file of rights was bad, so that the rights from before stayed in force.", nil, nil)
)

// rightsCollector shows what the rights refused.
type rightsCollector struct{ rights Rights }

// Describe implements [prometheus.Collector].
func (c *rightsCollector) Describe(ch chan<- *prometheus.Desc) {
	ch <- authDeniedDesc
	ch <- badFileDesc
}

// Collect implements [prometheus.Collector].
func (c *rightsCollector) Collect(ch chan<- prometheus.Metric) {
	unknown, forbidden, logins := c.rights.Denied()
	ch <- prometheus.MustNewConstMetric(authDeniedDesc, prometheus.CounterValue, float64(unknown), "unauthenticated")
	ch <- prometheus.MustNewConstMetric(authDeniedDesc, prometheus.CounterValue, float64(forbidden), "forbidden")
	ch <- prometheus.MustNewConstMetric(authDeniedDesc, prometheus.CounterValue, float64(logins), "nats_login")
	ch <- prometheus.MustNewConstMetric(badFileDesc, prometheus.CounterValue, float64(c.rights.Refused()))
}
