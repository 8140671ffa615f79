package datadir

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/carillon-io/carillon/job"
	"github.com/carillon-io/carillon/wal"
)

// TestCutTail: a commit that the cluster did not accept is put aside, and another takes its place.
func TestCutTail(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "data")
	d := openTestData(t, dir)
	commit(t, d, 1, 21)
	keep := d.log.Last()
	refused, err := d.log.Append(3, nil)
	if err != nil {
		t.Fatal(err)
	}
	stranger := keep
	stranger.Hash[0]++
	for _, at := range []job.Position{stranger, {LSN: 19}, {LSN: 40}} {
		if saved, err := d.CutTail(at); err == nil || saved != "" {
			t.Errorf("cut after %v: %q, %v", at, saved, err)
		}
	}
	saved, err := d.CutTail(keep)
	if err != nil || !strings.HasPrefix(filepath.Base(saved), "diverged-3-21-") || filepath.Dir(saved) != inShard(dir) {
		t.Fatalf("saved as %q, %v", saved, err)
	}
	checkSaved(t, saved, refused)
	if d.log.Last() != keep {
		t.Errorf("the log ends at %v, want %v", d.log.Last(), keep)
	}
	if saved, err := d.CutTail(keep); err != nil || saved != "" {
		t.Errorf("cut again: %q, %v", saved, err)
	}
	commit(t, d, 100, 110)
	mustClose(t, d)
	d = openTestData(t, dir)
	if n := countTimers(t, d); n != 30 {
		t.Errorf("%d rows, want 30", n)
	}
	mustClose(t, d)
}

// TestSaveTail: what a join will replace is put aside first, from where the histories part, or from
// where the log begins.
func TestSaveTail(t *testing.T) {
	t.Parallel()
	d := openTestData(t, filepath.Join(t.TempDir(), "data"))
	commit(t, d, 1, 200)
	if err := d.Checkpoint(t.Context()); err != nil {
		t.Fatal(err)
	}
	first := d.log.First()
	for after, want := range map[uint64]uint64{first + 2: first + 3, first - 1: first, 0: first} {
		saved, err := d.SaveTail(after)
		if err != nil || !strings.HasPrefix(filepath.Base(saved), fmt.Sprintf("diverged-1-%d-", want)) {
			t.Fatalf("after %d: %q, %v", after, saved, err)
		}
		checkSaved(t, saved, d.log.Last())
		if err := os.Remove(saved); err != nil {
			t.Fatal(err)
		}
	}
	if saved, err := d.SaveTail(d.log.Last().LSN); err != nil || saved != "" {
		t.Errorf("nothing to save: %q, %v", saved, err)
	}
	mustClose(t, d)
}

// checkSaved reads a saved file, which must end at last.
func checkSaved(t *testing.T, path string, last job.Position) {
	t.Helper()
	var end job.Position
	err := wal.DumpFile(path, func(f wal.Frame) error { end = f.Position; return nil })
	if err != nil || end != last {
		t.Errorf("%s ends at %v, %v, want %v", path, end, err, last)
	}
}
