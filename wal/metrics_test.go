package wal

import (
	"os"
	"path/filepath"
	"testing"
)

// TestMetrics: every append is a sync and a size, and what the segments hold is what their files have.
func TestMetrics(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "wal")
	l := mustOpen(t, Options{Dir: dir, SegmentBytes: SegmentBytesMin})
	defer mustClose(t, l)
	if m := l.Metrics(); m.Syncs.Count != 0 || m.Segments != 1 || m.Bytes != 0 {
		t.Errorf("a new log: %+v", m)
	}
	for range 40 {
		if _, err := l.Append(1, make([]byte, 500)); err != nil {
			t.Fatal(err)
		}
	}
	m := l.Metrics()
	if m.Syncs.Count != 40 || m.Syncs.Sum <= 0 || m.Appends.Count != 40 || m.Appends.Sum != float64(m.Bytes) {
		t.Errorf("after 40 appends: %+v", m)
	}
	segments, bytes := segmentsIn(t, dir)
	if m.Segments != segments || m.Segments < 5 || m.Bytes != bytes {
		t.Errorf("%d segments of %d bytes; the directory has %d of %d", m.Segments, m.Bytes, segments, bytes)
	}
	if err := l.TruncateFront(30); err != nil {
		t.Fatal(err)
	}
	if now := l.Metrics(); now.Segments >= m.Segments || now.Bytes >= m.Bytes || now.Appends.Count != 40 {
		t.Errorf("after a truncation: %+v", now)
	}
}

// segmentsIn counts the segment files of a directory and their bytes.
func segmentsIn(t *testing.T, dir string) (n int, bytes int64) {
	t.Helper()
	files, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range files {
		if _, ok := parseSegmentName(f.Name()); !ok {
			continue
		}
		info, err := f.Info()
		if err != nil {
			t.Fatal(err)
		}
		n++
		bytes += info.Size()
	}
	return n, bytes
}
