package metrics

import (
	"github.com/prometheus/client_golang/prometheus"

	"github.com/carillon-io/carillon/scheduler"
)

var (
	quotaUseDesc   = describe("tenant_quota_use", "What a tenant uses of its quota, in all shards; only for tenants with a quota.", "tenant", "quota")
	quotaLimitDesc = describe("tenant_quota_limit", "The quota of a tenant; only for tenants with a quota.", "tenant", "quota")
	refusedDesc    = describe("quota_refused_total", "Requests refused since the start because they would exceed the quota of their tenant.", "quota")
)

// collectQuotas shows the quotas of tenants. The tenants are those to which an operator has given a quota, so the file of
// rights bounds the number of series. Only the leader knows the live runs, so a standby shows nothing. A quota is for all
// shards together, so the leader of each shard shows the whole use, as it knows it: a sum over the label shard is wrong.
func collectQuotas(ch chan<- prometheus.Metric, list []scheduler.TenantQuota, st *scheduler.Status, shard string) {
	for kind := range scheduler.QuotaKinds {
		ch <- prometheus.MustNewConstMetric(refusedDesc, prometheus.CounterValue, float64(st.RefusedBy[kind]), shard, kind.String())
	}
	if st.Role != "leader" {
		return
	}
	for _, t := range list {
		for kind := range scheduler.QuotaKinds {
			if limit := t.Limit.Of(kind); limit > 0 {
				ch <- prometheus.MustNewConstMetric(quotaUseDesc, prometheus.GaugeValue, float64(t.Whole().Of(kind)), shard, t.Tenant, kind.String())
				ch <- prometheus.MustNewConstMetric(quotaLimitDesc, prometheus.GaugeValue, float64(limit), shard, t.Tenant, kind.String())
			}
		}
	}
}
