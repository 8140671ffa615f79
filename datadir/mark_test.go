package datadir

import (
	"context"
	"os"
	"path/filepath"
	"testing"
	"testing/synctest"
	"time"

	"github.com/carillon-io/carillon/job"
	"github.com/carillon-io/carillon/testkit"
	"github.com/carillon-io/carillon/wal"
)

// TestMaybeMark: a new segment is noted at the next look, and other commits after a while.
func TestMaybeMark(t *testing.T) {
	marks, start := 0, time.Unix(0, 0)
	m := &marker{mark: func() error { marks++; return nil }, every: 5 * time.Second, segments: 1, last: start}
	for _, c := range []struct{ second, segments, want int }{
		{1, 1, 0}, {4, 1, 0}, {5, 1, 1}, {6, 1, 1}, {7, 2, 2}, {8, 2, 2}, {11, 2, 2}, {12, 2, 3}, {13, 3, 4}, {14, 4, 5},
	} {
		if err := m.maybeMark(start.Add(time.Duration(c.second)*time.Second), c.segments); err != nil || marks != c.want {
			t.Fatalf("at %d s with %d segments: %d marks, want %d; %v", c.second, c.segments, marks, c.want, err)
		}
	}
}

// TestKeepMarks: while commits come, the log's end is noted every MarkEvery; a log that is left alone is not
// written to.
func TestKeepMarks(t *testing.T) {
	dir := t.TempDir()
	p := openPartsIn(t, dir)
	list := filepath.Join(dir, LogName, "SEGMENTS")
	synctest.Test(t, func(t *testing.T) {
		ctx, stop := context.WithCancel(t.Context())
		kept := make(chan error, 1)
		go func() { kept <- p.Keep(ctx, time.Hour) }()
		for range 3 {
			appendOne(t, p)
			before := fileOf(t, list)
			testkit.Pass(markEveryDefault + time.Second)
			marked := fileOf(t, list)
			if os.SameFile(before, marked) {
				t.Error("a commit was not noted")
			}
			testkit.Pass(time.Minute)
			if !os.SameFile(marked, fileOf(t, list)) {
				t.Error("the list of an idle log was written again")
			}
		}
		stop()
		if err := <-kept; err != nil {
			t.Error(err)
		}
	})
	if err := p.Close(); err != nil {
		t.Fatal(err)
	}
}

func appendOne(t *testing.T, p Parts) wal.Position {
	t.Helper()
	var b job.Batch
	b.PutMeta("epoch", 1)
	at, err := p.Log.Append(1, b.Bytes())
	if err == nil {
		err = p.Store.Apply(at, b.Bytes())
	}
	if err != nil {
		t.Fatal(err)
	}
	return at
}

func fileOf(t *testing.T, path string) os.FileInfo {
	t.Helper()
	info, err := os.Stat(path)
	if err != nil {
		t.Fatal(err)
	}
	return info
}

// TestShardsLookTogether: whenever a shard begins to keep its log, it looks within a period, at an instant that all
// shards share and that is no whole second.
func TestShardsLookTogether(t *testing.T) {
	start := time.Unix(1_700_000_000, 0)
	for past := time.Duration(0); past < 2*time.Second; past += 7 * time.Millisecond {
		now := start.Add(past)
		wait := untilLook(now, time.Second)
		if wait <= 0 || wait > time.Second {
			t.Fatalf("after %s it looks in %s", past, wait)
		}
		if at := now.Add(wait).Sub(start) % time.Second; at != time.Second/2 {
			t.Fatalf("after %s it looks %s after a whole second", past, at)
		}
	}
}
