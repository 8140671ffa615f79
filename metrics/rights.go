package metrics

import (
	"time"

	"github.com/prometheus/client_golang/prometheus"
)

// Rights count what the rights of callers refused, since the start of the process, and say which are in force. Their
// methods are safe for concurrent use. They return 0 on a server without rights.
type Rights interface {
	// Denied returns the requests without known credentials, those of known callers without the right, and the refused
	// clients of the embedded NATS server.
	Denied() (unknown, forbidden, logins uint64)
	// Refused returns how often a changed file of rights was bad.
	Refused() uint64
	// IsFileBad reports whether the file that is there now is not in force.
	IsFileBad() bool
	// InForce returns how many principals and tenants the file in force has, and when it was read; the zero time without
	// rights.
	InForce() (principals, tenants int, readAt time.Time)
}

var (
	// Descriptions of what the rights of callers refused, and of the file in force.
	authDeniedDesc = prometheus.NewDesc("carillon_auth_refused_total", "Requests that were refused since the start: without known credentials (unauthenticated), or for want of the right (forbidden); and connections to the embedded NATS server (nats_login).", []string{"reason"}, nil)
	badFileDesc    = prometheus.NewDesc("carillon_auth_file_refused_total", "Times since the start that the changed file of rights was bad, so that the rights from before stayed in force.", nil, nil)

	fileIsBadDesc  = prometheus.NewDesc("carillon_auth_file_bad", "1 while the file of rights that is there is bad, so that the rights from before are in force.", nil, nil)
	principalsDesc = prometheus.NewDesc("carillon_auth_principals", "Principals in the file of rights that is in force.", nil, nil)
	tenantsDesc    = prometheus.NewDesc("carillon_auth_tenants", "Tenants in the file of rights that is in force, with the tenant default.", nil, nil)
	fileReadDesc   = prometheus.NewDesc("carillon_auth_file_read_timestamp_seconds", "Unix time when the file of rights that is in force was read.", nil, nil)
)

// rightsCollector shows what the rights refused, and how many there are.
type rightsCollector struct{ rights Rights }

// Describe implements [prometheus.Collector].
func (c *rightsCollector) Describe(ch chan<- *prometheus.Desc) {
	ch <- authDeniedDesc
	ch <- badFileDesc
	ch <- fileIsBadDesc
	ch <- principalsDesc
	ch <- tenantsDesc
	ch <- fileReadDesc
}

// Collect implements [prometheus.Collector].
func (c *rightsCollector) Collect(ch chan<- prometheus.Metric) {
	unknown, forbidden, logins := c.rights.Denied()
	ch <- prometheus.MustNewConstMetric(authDeniedDesc, prometheus.CounterValue, float64(unknown), "unauthenticated")
	ch <- prometheus.MustNewConstMetric(authDeniedDesc, prometheus.CounterValue, float64(forbidden), "forbidden")
	ch <- prometheus.MustNewConstMetric(authDeniedDesc, prometheus.CounterValue, float64(logins), "nats_login")
	ch <- prometheus.MustNewConstMetric(badFileDesc, prometheus.CounterValue, float64(c.rights.Refused()))
	principals, tenants, readAt := c.rights.InForce()
	if readAt.IsZero() {
		return
	}
	ch <- prometheus.MustNewConstMetric(fileIsBadDesc, prometheus.GaugeValue, truth(c.rights.IsFileBad()))
	ch <- prometheus.MustNewConstMetric(principalsDesc, prometheus.GaugeValue, float64(principals))
	ch <- prometheus.MustNewConstMetric(tenantsDesc, prometheus.GaugeValue, float64(tenants))
	ch <- prometheus.MustNewConstMetric(fileReadDesc, prometheus.GaugeValue, float64(readAt.UnixMilli())/1000)
}
