package datadir

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/carillon-io/carillon/job"
)

func openTestData(t *testing.T, dir string) *Shard {
	t.Helper()
	s, err := openIn(Options{Dir: dir, Logger: discard}, ShardOptions{
		SegmentBytes: 4 << 10,
		OnFatal:      func(err error) { t.Errorf("the store failed: %v", err) },
	})
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// openIn opens a directory and its shard 0. The directory is unlocked after an error.
func openIn(o Options, so ShardOptions) (*Shard, error) {
	d, err := OpenDirectory(o)
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
func commit(t *testing.T, d *Shard, from, to job.ID) {
	t.Helper()
	for id := from; id < to; id++ {
		var b job.Batch
		b.PutTimer(id, job.Timer{Version: uint32(id)})
		at, err := d.log.Append(1, b.Bytes())
		if err == nil {
			err = d.store.Apply(at, b.Bytes())
		}
		if err != nil {
			t.Fatal(err)
		}
	}
}

func countTimers(t *testing.T, d *Shard) (n int) {
	t.Helper()
	low := []byte{byte(job.KindTimer)}
	err := d.store.Scan(low, job.PrefixEnd(low), func(_, _ []byte) (bool, error) { n++; return true, nil })
	if err != nil {
		t.Fatal(err)
	}
	return n
}

// TestCheckpointGivesTheLogBack: a checkpoint drops the segments that the store covers, and loses no commit:
// neither by a clean stop, nor in a copy of the directory taken while the server runs, which is what kill -9
// leaves.
func TestCheckpointGivesTheLogBack(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "data")
	d := openTestData(t, dir)
	commit(t, d, 1, 400)
	if d.log.First() != 1 {
		t.Fatalf("the log begins at %d", d.log.First())
	}
	if err := d.Checkpoint(context.Background()); err != nil {
		t.Fatal(err)
	}
	if first := d.log.First(); first < 300 || first > 400 {
		t.Errorf("after the checkpoint the log begins at %d", first)
	}
	commit(t, d, 400, 500)

	image := filepath.Join(t.TempDir(), "image")
	if err := os.CopyFS(image, os.DirFS(dir)); err != nil {
		t.Fatal(err)
	}
	crashed := openTestData(t, image)
	if n := countTimers(t, crashed); n != 499 {
		t.Errorf("%d rows after the crash, want 499", n)
	}
	mustClose(t, crashed)

	mustClose(t, d)
	d = openTestData(t, dir)
	if n := countTimers(t, d); n != 499 {
		t.Errorf("%d rows after a clean stop, want 499", n)
	}
	mustClose(t, d)
}

// TestReplayUpTo: a last commit that may not count stays out of the store until replayUpTo reaches it.
func TestReplayUpTo(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "data")
	d := openTestData(t, dir)
	commit(t, d, 1, 21)
	var b job.Batch
	for id := job.ID(21); id < 26; id++ {
		b.Reset()
		b.PutTimer(id, job.Timer{Version: 1})
		if _, err := d.log.Append(1, b.Bytes()); err != nil {
			t.Fatal(err)
		}
	}
	for _, c := range []struct{ to, want uint64 }{{20, 20}, {3, 20}, {24, 24}, {24, 24}, {25, 25}, {10, 25}} {
		if err := d.replayUpTo(c.to); err != nil || d.Applied().LSN != c.want {
			t.Fatalf("replayed up to %d: at %v, %v", c.to, d.Applied(), err)
		}
	}
	if err := d.replayUpTo(26); err == nil || !strings.Contains(err.Error(), "ends at 25") {
		t.Errorf("beyond the log: %v", err)
	}
	mustClose(t, d)
}

// TestOpeningTellsOfTheReplay: an opening that replays a log reports its progress.
func TestOpeningTellsOfTheReplay(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "data")
	d := openTestData(t, dir)
	const commits = 200
	for id := range job.ID(commits) {
		var b job.Batch
		b.PutTimer(id, job.Timer{Version: 1})
		if _, err := d.log.Append(1, b.Bytes()); err != nil {
			t.Fatal(err)
		}
	}
	mustClose(t, d)
	var told [][2]uint64
	d, err := openIn(Options{Dir: dir, Logger: discard}, ShardOptions{Replaying: func(done, all uint64) { told = append(told, [2]uint64{done, all}) }})
	if err != nil {
		t.Fatal(err)
	}
	mustClose(t, d)
	if len(told) != 3 || told[0] != [2]uint64{64, commits} || told[2][0] != 192 {
		t.Errorf("told %v", told)
	}
}
