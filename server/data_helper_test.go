package server

import (
	"errors"
	"log/slog"
	"os"
	"path/filepath"
	"testing"

	"github.com/carillon-io/carillon/datadir"
	"github.com/carillon-io/carillon/job"
)

var discard = slog.New(slog.DiscardHandler)

// The log and the store in a data directory.
var (
	logPath   = filepath.Join(inShard(""), datadir.LogName)
	storePath = filepath.Join(inShard(""), datadir.StoreName)
)

// inShard returns the directory of the shard in a data directory.
func inShard(dir string) string { return datadir.ShardDir(dir, 0) }

func openTestData(t *testing.T, dir string) *datadir.Shard {
	t.Helper()
	s, err := openShard(datadir.Options{Dir: dir, Logger: discard}, datadir.ShardOptions{
		SegmentBytes: 4 << 10,
		OnFatal:      func(err error) { t.Errorf("the store failed: %v", err) },
	})
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// openShard opens a directory and its shard 0. The directory is unlocked after an error.
func openShard(o datadir.Options, so datadir.ShardOptions) (*datadir.Shard, error) {
	d, err := datadir.OpenDirectory(o)
	if err != nil {
		return nil, err
	}
	s, err := d.OpenShard(0, so)
	if err != nil {
		return nil, errors.Join(err, d.Close())
	}
	return s, nil
}

// commit appends and applies one timer row for each of some jobs, as the engine does.
func commit(t *testing.T, d *datadir.Shard, from, to job.ID) {
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

func countTimers(t *testing.T, d *datadir.Shard) (n int) {
	t.Helper()
	low := []byte{byte(job.KindTimer)}
	err := d.Store().Scan(low, job.PrefixEnd(low), func(_, _ []byte) (bool, error) { n++; return true, nil })
	if err != nil {
		t.Fatal(err)
	}
	return n
}

func mustClose(t *testing.T, s *datadir.Shard) {
	t.Helper()
	if err := errors.Join(s.Close(), s.Directory().Close()); err != nil {
		t.Fatal(err)
	}
}

func copyDir(t *testing.T, dir string) string {
	t.Helper()
	image := filepath.Join(t.TempDir(), "data")
	if err := os.CopyFS(image, os.DirFS(dir)); err != nil {
		t.Fatal(err)
	}
	return image
}
