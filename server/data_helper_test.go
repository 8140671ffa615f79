package server

import (
	"log/slog"
	"testing"

	"github.com/carillon-io/carillon/datadir"
	"github.com/carillon-io/carillon/job"
)

var discard = slog.New(slog.DiscardHandler)

func openTestData(t *testing.T, dir string) *datadir.Directory {
	t.Helper()
	d, err := datadir.OpenDirectory(datadir.Options{
		Dir: dir, Logger: discard, SegmentBytes: 4 << 10,
		OnFatal: func(err error) { t.Errorf("the store failed: %v", err) },
	})
	if err != nil {
		t.Fatal(err)
	}
	return d
}

// commit appends and applies one timer row for each of some jobs, as the engine does.
func commit(t *testing.T, d *datadir.Directory, from, to job.ID) {
	t.Helper()
	for id := from; id < to; id++ {
		var b job.Batch
		b.PutTimer(id, job.Timer{Version: uint32(id)})
		at, err := d.Log().Append(1, b.Bytes())
		if err == nil {
			err = d.Store().Apply(at, b.Bytes())
		}
		if err != nil {
			t.Fatal(err)
		}
	}
}

func countTimers(t *testing.T, d *datadir.Directory) (n int) {
	t.Helper()
	low := []byte{byte(job.KindTimer)}
	err := d.Store().Scan(low, job.PrefixEnd(low), func(_, _ []byte) (bool, error) { n++; return true, nil })
	if err != nil {
		t.Fatal(err)
	}
	return n
}

func mustClose(t *testing.T, d *datadir.Directory) {
	t.Helper()
	if err := d.Close(); err != nil {
		t.Fatal(err)
	}
}
