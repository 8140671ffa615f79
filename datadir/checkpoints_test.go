package datadir

import (
	"context"
	"log/slog"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/carillon-io/carillon/job"
	"github.com/carillon-io/carillon/snapshot"
	"github.com/carillon-io/carillon/wal"
)

// TestCheckpointsAreCounted: one that succeeds has a length, bytes and an instant; one that cannot be made is a
// failure, and one that is called off is neither.
func TestCheckpointsAreCounted(t *testing.T) {
	p := openParts(t)
	appendOne(t, p)
	before := p.Checkpoints.Stats()
	if err := p.Checkpoint(t.Context()); err != nil {
		t.Fatal(err)
	}
	st := p.Checkpoints.Stats()
	if st.Took.Count != 1 || st.WrittenBytes == 0 || st.Failures != 0 || !st.LastSuccess.After(before.LastSuccess) {
		t.Errorf("after a checkpoint: %+v, before %+v", st, before)
	}
	off, cancel := context.WithCancel(t.Context())
	cancel()
	_ = p.Checkpoint(off) // it may be done before it sees that
	if err := p.Close(); err != nil {
		t.Fatal(err)
	}
	if p.Checkpoint(off) == nil || p.Checkpoints.Stats().Failures != 0 {
		t.Errorf("one that was called off: %+v", p.Checkpoints.Stats())
	}
	if p.Checkpoint(t.Context()) == nil || p.Checkpoints.Stats().Failures != 1 {
		t.Errorf("a checkpoint of a closed store: %+v", p.Checkpoints.Stats())
	}
	if age := time.Since(st.LastSuccess); age < 0 || age > time.Minute {
		t.Errorf("the last checkpoint was %s ago", age)
	}
}

func openParts(t *testing.T) Parts {
	t.Helper()
	return openPartsIn(t, t.TempDir())
}

func openPartsIn(t *testing.T, dir string) Parts {
	t.Helper()
	log, err := wal.Open(wal.Options{Dir: filepath.Join(dir, "wal")})
	if err != nil {
		t.Fatal(err)
	}
	store, err := snapshot.Open(snapshot.Options{Dir: filepath.Join(dir, "store")})
	if err != nil {
		t.Fatal(err)
	}
	return Parts{Log: log, Store: store, Logger: slog.New(slog.DiscardHandler), Checkpoints: NewCheckpoints()}
}

// TestReplayIsTold: whoever waits for a long replay learns how far it is.
func TestReplayIsTold(t *testing.T) {
	p := openParts(t)
	const commits = 3*replayingEvery + 5
	for range commits {
		var b job.Batch
		b.PutMeta("epoch", 1)
		if _, err := p.Log.Append(1, b.Bytes()); err != nil {
			t.Fatal(err)
		}
	}
	var told []uint64
	p.Replaying = func(done, all uint64) {
		if all != commits {
			t.Errorf("%d of %d commits; want of %d", done, all, commits)
		}
		told = append(told, done)
	}
	if err := p.Replay(commits); err != nil {
		t.Fatal(err)
	}
	if want := []uint64{replayingEvery, 2 * replayingEvery, 3 * replayingEvery}; !slices.Equal(told, want) {
		t.Errorf("told %d, want %d", told, want)
	}
	if err := p.Close(); err != nil {
		t.Fatal(err)
	}
}
