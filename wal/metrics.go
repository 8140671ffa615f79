package wal

import (
	"time"

	"github.com/carillon-io/carillon/histogram"
)

// Metrics are readings of a log for its operator. Histograms count from Open.
type Metrics struct {
	Syncs    histogram.Reading // seconds that an append took to write and sync; includes the directory sync of a new segment
	Appends  histogram.Reading // bytes that an append added to its segment
	Segments int               // files
	Bytes    int64             // of the durable part of all segments
}

// meter counts the syncs and bytes of appends. It has no lock: Metrics reads while Append records.
type meter struct {
	syncs   histogram.Times // successful appends only; a failed one ends the log
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

// synced counts a completed append whose write began at began.
func (m *meter) synced(began time.Time, frame []byte) {
	m.syncs.Record(time.Since(began))
	m.appends.Record(entryBytes(len(frame)))
}
