package metrics

import "github.com/prometheus/client_golang/prometheus"

// Quota is what a tenant uses of one bound of its quota, of those that are held before a request reaches the engine or
// behind it: rate, streams, in_flight, calendars.
type Quota struct {
	Tenant, Quota string // the quota as the file of rights names it
	Used, Limit   float64
}

// Quotas are the readings of such quotas. They have only tenants to which the file of rights gives one, so the file bounds
// the number of series.
type Quotas struct {
	Uses    []Quota
	Limited map[string]uint64 // requests of each tenant that were refused because of its rate
}

var limitedDesc = prometheus.NewDesc("carillon_rate_limited_total", "Requests of a tenant that were refused because of its rate, since the tenant has one; only for tenants with a rate.", []string{"tenant"}, nil)

// quotaCollector shows the quotas of tenants that this process holds, for all shards together: their label shard is empty.
type quotaCollector struct{ quotas func() Quotas }

// Describe implements [prometheus.Collector]. It describes nothing: the registry permits each description once, and the
// engine's quotas have those of the use and the limit.
func (c *quotaCollector) Describe(ch chan<- *prometheus.Desc) {}

// Collect implements [prometheus.Collector].
func (c *quotaCollector) Collect(ch chan<- prometheus.Metric) {
	all := c.quotas()
	for _, q := range all.Uses {
		ch <- prometheus.MustNewConstMetric(quotaUseDesc, prometheus.GaugeValue, q.Used, "", q.Tenant, q.Quota)
		ch <- prometheus.MustNewConstMetric(quotaLimitDesc, prometheus.GaugeValue, q.Limit, "", q.Tenant, q.Quota)
	}
	for tenant, n := range all.Limited {
		ch <- prometheus.MustNewConstMetric(limitedDesc, prometheus.CounterValue, float64(n), tenant)
	}
}
