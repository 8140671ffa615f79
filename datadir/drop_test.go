package datadir

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/carillon-io/carillon/testkit"
)

// openSeveral opens a directory with the shards 0 and 2, and closes these shards.
func openSeveral(t *testing.T, dir string) *Directory {
	t.Helper()
	d, err := OpenDirectory(Options{Dir: dir, Logger: discard})
	mustDo(t, err)
	t.Cleanup(func() { mustDo(t, d.Close()) })
	for _, s := range openShards(t, d, []uint32{0, 2}) {
		mustDo(t, s.Close())
	}
	return d
}

// leftover returns the only shard that Leftovers finds, or -1.
func leftover(t *testing.T, d *Directory) int {
	t.Helper()
	left, err := d.Leftovers()
	mustDo(t, err)
	if len(left) != 1 {
		return -1
	}
	return int(left[0])
}

// TestCopiedShardIsPutAside: the directory of a shard that PARTS does not have, and that nothing marks, is put aside whole.
func TestCopiedShardIsPutAside(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	d := openSeveral(t, dir)
	for i := range replacedMost {
		mustDo(t, os.CopyFS(ShardDir(dir, 5), os.DirFS(ShardDir(dir, 2))))
		if got := leftover(t, d); got != 5 {
			t.Fatalf("copy %d: the left-over is shard %d", i, got)
		}
		aside, err := d.Clear(5)
		mustDo(t, err)
		if !strings.HasPrefix(aside, ShardDir(dir, 5)+replacedMark) || leftover(t, d) != -1 {
			t.Fatalf("put aside as %q", aside)
		}
		for _, name := range []string{LogName, StoreName, NumberName} {
			if !exists(filepath.Join(aside, name)) {
				t.Errorf("%s is not in %s", name, aside)
			}
		}
		testkit.Until(t, "the next name is another", func() bool { return aside != ShardDir(dir, 5)+replacedMark+time.Now().UTC().Format(keptTime) })
	}
	mustDo(t, os.CopyFS(ShardDir(dir, 5), os.DirFS(ShardDir(dir, 2))))
	if _, err := d.Clear(5); !errors.Is(err, ErrManyReplaced) || leftover(t, d) != 5 {
		t.Errorf("one more than may be: %v", err)
	}
}

// TestInterruptedDropIsFinished ends a Drop after each of its steps. What PARTS still has stays; the rest goes, by Clear or when
// the shard comes again.
func TestInterruptedDropIsFinished(t *testing.T) {
	t.Parallel()
	mark := func(t *testing.T, d *Directory) {
		mustDo(t, writeSynced(filepath.Join(ShardDir(d.dir, 2), droppedName), droppedText))
	}
	forget := func(t *testing.T, d *Directory) { mustDo(t, d.forgetShard(2)) }
	remove := func(names ...string) func(*testing.T, *Directory) {
		return func(t *testing.T, d *Directory) {
			for _, name := range names {
				mustDo(t, os.RemoveAll(filepath.Join(ShardDir(d.dir, 2), name)))
			}
		}
	}
	steps := []func(*testing.T, *Directory){mark, forget, remove(LogName), remove(dropped()...)}
	for n := range len(steps) + 1 {
		for _, again := range []bool{false, true} {
			dir := t.TempDir()
			d := openSeveral(t, dir)
			for _, step := range steps[:n] {
				step(t, d)
			}
			if forgotten := n > 1; forgotten != (leftover(t, d) == 2) {
				t.Fatalf("%d steps: the left-over is shard %d", n, leftover(t, d))
			}
			if !again && n > 1 {
				aside, err := d.Clear(2)
				mustDo(t, err)
				if aside != "" || exists(ShardDir(dir, 2)) {
					t.Errorf("%d steps: put aside as %q, there is %t", n, aside, exists(ShardDir(dir, 2)))
				}
				continue
			}
			mustDo(t, openShards(t, d, []uint32{2})[0].Close())
			if exists(filepath.Join(ShardDir(dir, 2), droppedName)) || leftover(t, d) != -1 || !d.hasPart(2) {
				t.Errorf("%d steps: the shard that came again is marked, or not in PARTS", n)
			}
		}
	}
}

// TestDropLeavesWhatWasPutAside: the data of a shard goes, and what no other node has stays.
func TestDropLeavesWhatWasPutAside(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	d := openSeveral(t, dir)
	kept := filepath.Join(ShardDir(dir, 2), "diverged-1-2-3.frames")
	mustDo(t, os.WriteFile(kept, nil, 0o600))
	mustDo(t, d.Drop(2))
	entries, err := os.ReadDir(ShardDir(dir, 2))
	mustDo(t, err)
	if len(entries) != 1 || !exists(kept) || leftover(t, d) != -1 {
		t.Errorf("there are %v", entries)
	}
	mustDo(t, d.Drop(7)) // it was never here
}
