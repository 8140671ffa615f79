package wal

import (
	"time"

	"github.com/carillon-io/carillon/histogram"
)

// Metrics are readings of a log for its operator. Histograms count from Open.
type Metrics struct {
	Syncs    histogram.Reading // seconds that an append took to write and sync, the directory of a new segment included
	Appends  histogram.Reading // bytes of an append in its segment
	Segments int               // files
	Bytes    int64             // of the durable part of all segments
}

// meter counts what appends do.
type meter struct {
	syncs   histogram.Times
	appends histogram.Sizes
}

// Metrics returns readings of the log. It waits for no system call, and works after Close.
func (l *Log) Metrics() Metrics {
	m := Metrics{Syncs: l.meter.syncs.Read(), Appends: l.meter.appends.Read()}
	l.state.mu.Lock()
	defer l.state.mu.Unlock()
	m.Segments = len(l.state.segments)
	for _, seg := range l.state.segments {
		m.Bytes += seg.bytes
	}
	return m
}

// synced counts an append whose sync began at an instant and is done.
func (m *meter) synced(began time.Time, frame []byte) {
	m.syncs.Record(time.Since(began))
	m.appends.Record(entryBytes(len(frame)))
}
