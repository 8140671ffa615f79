package metrics

import "github.com/prometheus/client_golang/prometheus"

var (
	// Descriptions of the metrics of deliveries. The label kind is that of a target, so it has five values at most.
	attemptsDesc    = prometheus.NewDesc("carillon_attempts_total", "Attempts that have ended since the start, by kind of target and outcome.", []string{"kind", "outcome"}, nil)
	queuedDesc      = prometheus.NewDesc("carillon_attempts_queued", "Attempts that wait for the connection to NATS.", []string{"kind"}, nil)
	deliveryDesc    = prometheus.NewDesc("carillon_delivery_seconds", "How long attempts took from their launch until they ended.", []string{"kind"}, nil)
	targetNATSDesc  = prometheus.NewDesc("carillon_target_nats_connected", "1 if the connection for targets of NATS is there, else 0.", nil, nil)
	tenantsNATSDesc = prometheus.NewDesc("carillon_target_nats_tenant_connections", "Connections for targets in the accounts of tenants on the embedded NATS server.", nil, nil)
	reconnectsDesc  = prometheus.NewDesc("carillon_target_nats_reconnects_total", "Times that the connection for targets of NATS came back.", nil, nil)
	spansLostDesc   = prometheus.NewDesc("carillon_trace_spans_lost_total", "Spans of traces that were dropped because the collector does not take them, or not as fast.", nil, nil)
	duplicatesDesc  = prometheus.NewDesc("carillon_target_duplicates_total", "Runs that streams of targets took as duplicates, because they have their run ids.", nil, nil)
	eventDupsDesc   = prometheus.NewDesc("carillon_event_duplicates_total", "Events that their stream took as duplicates, because it has their message ids.", nil, nil)
	deniedDesc      = prometheus.NewDesc("carillon_target_nats_denied_total", "Messages to targets that NATS refused for lack of permission.", nil, nil)
)

// deliveryCollector shows the ways of delivery, read once for each scrape. deliveries must not return nil. The ways
// of delivery belong to the process and not to a shard, so these metrics have no label shard.
type deliveryCollector struct{ deliveries func() *Deliveries }

// Describe implements [prometheus.Collector].
func (c *deliveryCollector) Describe(ch chan<- *prometheus.Desc) {
	for _, desc := range []*prometheus.Desc{attemptsDesc, queuedDesc, deliveryDesc, targetNATSDesc, tenantsNATSDesc, reconnectsDesc, deniedDesc, duplicatesDesc, eventDupsDesc, spansLostDesc} {
		ch <- desc
	}
}

// Collect implements [prometheus.Collector].
func (c *deliveryCollector) Collect(ch chan<- prometheus.Metric) {
	d := c.deliveries()
	for _, k := range d.Kinds {
		for outcome, n := range k.Ended {
			ch <- prometheus.MustNewConstMetric(attemptsDesc, prometheus.CounterValue, float64(n), k.Kind, outcome)
		}
		ch <- prometheus.MustNewConstMetric(queuedDesc, prometheus.GaugeValue, float64(k.Queued), k.Kind)
		ch <- secondsOf(deliveryDesc, k.Took, k.Kind)
	}
	ch <- prometheus.MustNewConstMetric(targetNATSDesc, prometheus.GaugeValue, truth(d.Connected))
	ch <- prometheus.MustNewConstMetric(tenantsNATSDesc, prometheus.GaugeValue, float64(d.TenantConnections))
	ch <- prometheus.MustNewConstMetric(reconnectsDesc, prometheus.CounterValue, float64(d.Reconnects))
	ch <- prometheus.MustNewConstMetric(deniedDesc, prometheus.CounterValue, float64(d.Denied))
	ch <- prometheus.MustNewConstMetric(duplicatesDesc, prometheus.CounterValue, float64(d.Duplicates))
	ch <- prometheus.MustNewConstMetric(eventDupsDesc, prometheus.CounterValue, float64(d.EventDuplicates))
	ch <- prometheus.MustNewConstMetric(spansLostDesc, prometheus.CounterValue, float64(d.SpansLost))
}

// truth returns 1 for true and 0 for false. Prometheus has no booleans; by convention a condition is 0 or 1, so
// that an alert can sum and average it.
func truth(is bool) float64 {
	if is {
		return 1
	}
	return 0
}
