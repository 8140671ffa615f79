package metrics

import (
	"strconv"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/carillon-io/carillon/client"
)

var (
	// Descriptions of a cluster's metrics. Those with the label node have a series for each node that this one has
	// heard of.
	trustDesc = prometheus.NewDesc("carillon_lease_trust_seconds", "How long the leader may still launch without renewing its lease; 0 on a standby.", nil, nil)
	termDesc  = prometheus.NewDesc("carillon_lease_term", "Term of the lease, as this node sees it.", nil, nil)
	lagDesc   = prometheus.NewDesc("carillon_replication_lag_commits", "Commits that the leader has and the node has not, as this node sees it.", []string{"node"}, nil)
	// It has no label node: a node knows its own time of lag only.
	lagTimeDesc = prometheus.NewDesc("carillon_replication_lag_seconds", "How long this node has lacked commits of the leader, or heard no leader.", nil, nil)
	silentDesc  = prometheus.NewDesc("carillon_node_silent_seconds", "How long ago a node was heard of.", []string{"node"}, nil)
	roleDesc    = prometheus.NewDesc("carillon_node_role", "Always 1; the labels tell what a node does, as this node sees it.", []string{"node", "role"}, nil)
	// The way of the message is part of it, so small values mean nothing.
	clockDesc    = prometheus.NewDesc("carillon_node_clock_offset_seconds", "Wall clock of a node against this node's, and the way of its word.", []string{"node"}, nil)
	voidsDesc    = prometheus.NewDesc("carillon_replication_void_frames_total", "Messages of the stream that are no part of the log, by why.", []string{"reason"}, nil)
	clusterDescs = []*prometheus.Desc{trustDesc, termDesc, lagDesc, lagTimeDesc, silentDesc, roleDesc, clockDesc, voidsDesc}
	// Prometheus wants base units, and the API has milliseconds.
	milliToSecond = 1e-3
)

// clusterCollector shows the state of a node and of the others. What it shows of other nodes is what they said last,
// so each node has its own view of all, and an alert can compare them. It is registered only in a cluster.
type clusterCollector struct{ cluster func() *client.Cluster }

// Describe implements [prometheus.Collector].
func (c *clusterCollector) Describe(ch chan<- *prometheus.Desc) {
	for _, desc := range clusterDescs {
		ch <- desc
	}
}

// Collect implements [prometheus.Collector]. The state is read once, so that the values of a scrape belong
// together. A reason for void frames appears with its first frame.
func (c *clusterCollector) Collect(ch chan<- prometheus.Metric) {
	info := c.cluster()
	gauge := func(desc *prometheus.Desc, value float64, labels ...string) {
		ch <- prometheus.MustNewConstMetric(desc, prometheus.GaugeValue, value, labels...)
	}
	gauge(trustDesc, info.TrustMS*milliToSecond)
	gauge(termDesc, float64(info.Term))
	gauge(lagTimeDesc, info.LagMS*milliToSecond)
	for _, n := range info.Nodes {
		gauge(lagDesc, float64(n.Lag), n.Node)
		gauge(silentDesc, n.SilentMS*milliToSecond, n.Node)
		gauge(clockDesc, n.ClockOffsetMS*milliToSecond, n.Node)
		gauge(roleDesc, 1, n.Node, n.Role)
	}
	for reason, count := range info.Void {
		ch <- prometheus.MustNewConstMetric(voidsDesc, prometheus.CounterValue, float64(count), reason)
	}
}

// shardDesc describes a metric that each node has for each shard, so that an alert can name a shard of which no node is left.
var shardDesc = prometheus.NewDesc("carillon_shard_info", "Always 1; there is one for each shard of the cluster, whether this node has a copy of it or not.", []string{"shard"}, nil)

// allShards shows which shards there are; its value is their number. A single node has one.
type allShards int

// Describe implements [prometheus.Collector].
func (n allShards) Describe(ch chan<- *prometheus.Desc) { ch <- shardDesc }

// Collect implements [prometheus.Collector].
func (n allShards) Collect(ch chan<- prometheus.Metric) {
	for shard := range int(n) {
		ch <- prometheus.MustNewConstMetric(shardDesc, prometheus.GaugeValue, 1, strconv.Itoa(shard))
	}
}
