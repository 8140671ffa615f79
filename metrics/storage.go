package metrics

import (
	"github.com/prometheus/client_golang/prometheus"
)

// storageMetric is one value of a data directory. value is called with the readings of one scrape.
type storageMetric struct {
	desc  *prometheus.Desc
	kind  prometheus.ValueType
	value func(*Storage) float64
}

// storageGauge describes a value that can fall.
func storageGauge(name, help string, value func(*Storage) float64) storageMetric {
	return storageMetric{prometheus.NewDesc("carillon_"+name, help, nil, nil), prometheus.GaugeValue, value}
}

// storageCounter describes a value that only grows until the directory is opened again.
func storageCounter(name, help string, value func(*Storage) float64) storageMetric {
	return storageMetric{prometheus.NewDesc("carillon_"+name, help, nil, nil), prometheus.CounterValue, value}
}

// storageMetrics are the metrics that show one value each. They are a table, so that Describe and Collect cannot
// differ.
var storageMetrics = []storageMetric{
	storageGauge("wal_segments", "Segment files of the log.", func(s *Storage) float64 { return float64(s.Segments) }),
	storageGauge("wal_bytes", "Size of the log on the disk.", func(s *Storage) float64 { return float64(s.LogBytes) }),
	storageCounter("checkpoint_written_bytes_total", "Bytes written to the tables of the store while checkpoints were made.", func(s *Storage) float64 { return float64(s.CheckpointBytes) }),
	storageCounter("checkpoint_failures_total", "Checkpoints that failed.", func(s *Storage) float64 { return float64(s.CheckpointFailures) }),
	storageGauge("checkpoint_last_success_timestamp_seconds", "When the last checkpoint succeeded, or the store was opened, in seconds of Unix time.", func(s *Storage) float64 {
		return float64(s.CheckpointAt.UnixMilli()) / 1000
	}),
	storageGauge("store_bytes", "Size of the store on the disk.", func(s *Storage) float64 { return float64(s.Store.Bytes) }),
	storageGauge("store_memtable_bytes", "Memory of rows that are not in the store's files yet.", func(s *Storage) float64 { return float64(s.Store.MemTableBytes) }),
	storageGauge("store_cache_bytes", "Memory of blocks of the store that are kept.", func(s *Storage) float64 { return float64(s.Store.CacheBytes) }),
	storageCounter("store_cache_hits_total", "Reads of a block that was kept.", func(s *Storage) float64 { return float64(s.Store.CacheHits) }),
	storageCounter("store_cache_misses_total", "Reads of a block that was not kept.", func(s *Storage) float64 { return float64(s.Store.CacheMisses) }),
	storageGauge("store_l0_sublevels", "How deep the newest level of the store is: many mean that compactions do not keep up.", func(s *Storage) float64 { return float64(s.Store.L0Sublevels) }),
	storageGauge("store_compaction_debt_bytes", "Bytes that compactions have yet to rewrite, estimated.", func(s *Storage) float64 { return float64(s.Store.CompactionDebtBytes) }),
	storageCounter("store_flushes_total", "Flushes of the store.", func(s *Storage) float64 { return float64(s.Store.Flushes) }),
	storageCounter("store_flushed_bytes_total", "Bytes written by flushes.", func(s *Storage) float64 { return float64(s.Store.FlushedBytes) }),
	storageCounter("store_compactions_total", "Compactions of the store.", func(s *Storage) float64 { return float64(s.Store.Compactions) }),
	storageCounter("store_compacted_bytes_total", "Bytes written by compactions.", func(s *Storage) float64 { return float64(s.Store.CompactedBytes) }),
	storageCounter("store_stalls_total", "Times that commits had to wait for flushes or compactions.", func(s *Storage) float64 { return float64(s.Store.Stalls) }),
	storageCounter("store_stall_seconds_total", "How long commits had to wait for flushes or compactions.", func(s *Storage) float64 { return s.Store.StallTime.Seconds() }),
	storageGauge("data_free_bytes", "Free space of the file system of the data directory.", func(s *Storage) float64 { return float64(s.FreeBytes) }),
	storageGauge("data_size_bytes", "Size of the file system of the data directory.", func(s *Storage) float64 { return float64(s.SizeBytes) }),
}

var (
	// Descriptions of the distributions.
	syncDesc       = prometheus.NewDesc("carillon_wal_fsync_seconds", "How long the log took to write and sync an append.", nil, nil)
	appendDesc     = prometheus.NewDesc("carillon_wal_append_bytes", "Size of what the log wrote and synced at a time.", nil, nil)
	checkpointDesc = prometheus.NewDesc("carillon_checkpoint_seconds", "How long checkpoints took.", nil, nil)
)

// storageCollector shows a data directory, read once for each scrape. It shows nothing while there is none.
type storageCollector struct{ storage func() *Storage }

// Describe implements [prometheus.Collector].
func (c *storageCollector) Describe(ch chan<- *prometheus.Desc) {
	for _, m := range storageMetrics {
		ch <- m.desc
	}
	ch <- syncDesc
	ch <- appendDesc
	ch <- checkpointDesc
}

// Collect implements [prometheus.Collector]. The readings are one value that the data directory made for this
// scrape, so those of the log and of the store belong to nearly the same moment.
func (c *storageCollector) Collect(ch chan<- prometheus.Metric) {
	s := c.storage()
	if s == nil {
		return
	}
	for _, m := range storageMetrics {
		ch <- prometheus.MustNewConstMetric(m.desc, m.kind, m.value(s))
	}
	ch <- secondsOf(syncDesc, s.Syncs)
	ch <- bytesOf(appendDesc, s.Appends)
	ch <- secondsOf(checkpointDesc, s.Checkpoints)
}
