package datadir

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/carillon-io/carillon/job"
	"github.com/carillon-io/carillon/testkit"
)

var discard = slog.New(slog.DiscardHandler)

// receive makes a data directory of a node with commits of its own, which has received a leader's store
// with more of them. It returns the directory and the position of the received store.
func receive(t *testing.T, own, leaders job.ID) (dir string, at job.Position) {
	t.Helper()
	root := t.TempDir()
	leader := openTestData(t, filepath.Join(root, "leader"))
	commit(t, leader, 1000, 1000+leaders)
	dir = filepath.Join(root, "data")
	node := openTestData(t, dir)
	commit(t, node, 1, 1+own)
	mustClose(t, node)
	if err := os.Mkdir(filepath.Join(inShard(dir), incomingName), 0o750); err != nil {
		t.Fatal(err)
	}
	at, err := leader.store.Export(context.Background(), filepath.Join(inShard(dir), incomingName, StoreName))
	if err != nil || at != leader.Applied() {
		t.Fatalf("exported %v, %v", at, err)
	}
	mustClose(t, leader)
	return dir, at
}

// inShard returns the directory of the shard in a data directory.
func inShard(dir string) string { return ShardDir(dir, 0) }

// swapTo is a swap that was decided at a known time.
func swapTo(at job.Position, f Fate) swap {
	return swap{at: at, fate: f, when: time.UnixMilli(1_790_000_000_123)}
}

// checkKept checks that the old data with so many rows is put aside, if it should be: it opens as a data
// directory.
func checkKept(t *testing.T, dir string, s swap, rows int) {
	t.Helper()
	log, store := keptPath(inShard(dir), LogName, s), keptPath(inShard(dir), StoreName, s)
	if s.fate == Removed {
		if exists(log) || exists(store) {
			t.Errorf("%s or %s is there", log, store)
		}
		return
	}
	again := t.TempDir()
	for from, name := range map[string]string{log: LogName, store: StoreName} {
		if err := os.CopyFS(filepath.Join(inShard(again), name), os.DirFS(from)); err != nil {
			t.Fatal(err)
		}
	}
	d := openTestData(t, again)
	if n := countTimers(t, d); n != rows {
		t.Errorf("what was put aside has %d rows, want %d", n, rows)
	}
	mustClose(t, d)
}

func mustClose(t *testing.T, s *Shard) {
	t.Helper()
	if err := errors.Join(s.Close(), s.Directory().Close()); err != nil {
		t.Fatal(err)
	}
}

// checkJoined opens a directory after a swap: store and log are at the position, hold the leader's rows
// and go on from there; nothing of the swap is left.
func checkJoined(t *testing.T, dir string, at job.Position, rows int) {
	t.Helper()
	d := openTestData(t, dir)
	if d.Applied() != at || d.log.Last() != at || d.log.Base() != at {
		t.Fatalf("the store is at %v and the log goes from %v to %v, want %v", d.Applied(), d.log.Base(), d.log.Last(), at)
	}
	if n := countTimers(t, d); n != rows {
		t.Fatalf("%d rows, want %d", n, rows)
	}
	commit(t, d, 5000, 5010)
	mustClose(t, d)
	d = openTestData(t, dir)
	if n := countTimers(t, d); n != rows+10 || d.Applied().LSN != at.LSN+10 {
		t.Fatalf("%d rows at %v after ten more commits", n, d.Applied())
	}
	mustClose(t, d)
	entries, err := os.ReadDir(inShard(dir))
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		if name := e.Name(); name != LogName && name != StoreName && name != NumberName && !strings.Contains(name, replacedMark) && !strings.Contains(name, behindMark) {
			t.Errorf("%s is left", name)
		}
	}
}

// TestAdoptIncoming: a node of another history becomes a copy of the leader.
func TestAdoptIncoming(t *testing.T) {
	t.Parallel()
	dir, at := receive(t, 300, 120)
	if err := adoptIncoming(inShard(dir), swapTo(at, Removed), discard); err != nil {
		t.Fatal(err)
	}
	checkJoined(t, dir, at, 120)
}

// TestAdoptIntoNothing: so does a node that never had any data, and one that receives an empty store.
func TestAdoptIntoNothing(t *testing.T) {
	t.Parallel()
	for _, leaders := range []job.ID{0, 30} {
		dir, at := receive(t, 0, leaders)
		for _, name := range []string{LogName, StoreName} {
			if err := os.RemoveAll(filepath.Join(dir, name)); err != nil {
				t.Fatal(err)
			}
		}
		if err := adoptIncoming(inShard(dir), swapTo(at, Removed), discard); err != nil {
			t.Fatal(err)
		}
		checkJoined(t, dir, at, int(leaders))
	}
}

// TestAdoptWhileOpen: the data of a running node is closed, replaced and opened under one lock.
func TestAdoptWhileOpen(t *testing.T) {
	t.Parallel()
	dir, at := receive(t, 50, 80)
	d := openTestData(t, dir)
	if err := d.Adopt(at, nil, Removed); err != nil {
		t.Fatal(err)
	}
	if d.Applied() != at || countTimers(t, d) != 80 {
		t.Fatalf("at %v with %d rows", d.Applied(), countTimers(t, d))
	}
	mustClose(t, d)
	checkJoined(t, dir, at, 80)
}

// TestEachStepOfAJoin stops a swap after each of its steps, and once more after each step of its
// completion. The next start finishes it. Of stops that leave the same files, one is tried.
func TestEachStepOfAJoin(t *testing.T) {
	t.Parallel()
	dir, at := receive(t, 40, 25)
	for name, f := range map[string]Fate{"removed": Removed, "replaced": Replaced, "behind": Behind} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			whole, seen := testkit.CopyDir(t, dir), map[string]bool{}
			if err := writeJoining(inShard(whole), swapTo(at, f)); err != nil {
				t.Fatal(err)
			}
			for first := range len(joinSteps) + 1 {
				once := stopped(t, whole, swapTo(at, f), first)
				for second := range len(joinSteps) + 1 {
					image := stopped(t, once, swapTo(at, f), second)
					key := fmt.Sprint(files(t, image), tree(t, image))
					if seen[key] {
						continue
					}
					seen[key] = true
					checkJoined(t, image, at, 25)
					checkKept(t, image, swapTo(at, f), 40)
				}
			}
			if len(seen) <= len(joinSteps) {
				t.Errorf("the stops leave %d different directories", len(seen))
			}
		})
	}
}

// stopped returns a copy of a directory with a swap that is stopped after so many steps, unless it has ended before.
func stopped(t *testing.T, dir string, s swap, steps int) (image string) {
	t.Helper()
	image = testkit.CopyDir(t, dir)
	if _, ok, _ := readJoining(inShard(image)); !ok {
		return image
	}
	if err := (&join{dir: inShard(image), swap: s, logger: discard}).run(steps); err != nil {
		t.Fatalf("stopped after step %d: %v", steps, err)
	}
	return image
}

// TestEachRemovalOfAJoin stops a swap in the middle of the steps that remove a directory: any part of
// what they remove may be gone.
func TestEachRemovalOfAJoin(t *testing.T) {
	t.Parallel()
	dir, at := receive(t, 40, 25)
	for _, c := range []struct {
		fate  Fate
		after int // steps
		tree  string
	}{{Removed, 2, LogName}, {Removed, 4, StoreName}, {Removed, 7, incomingName}, {Removed, 6, LogName}, {Replaced, 7, LogName}} {
		whole := testkit.CopyDir(t, dir)
		if err := writeJoining(inShard(whole), swapTo(at, c.fate)); err != nil {
			t.Fatal(err)
		}
		if err := (&join{dir: inShard(whole), swap: swapTo(at, c.fate), logger: discard}).run(c.after); err != nil {
			t.Fatal(err)
		}
		for _, path := range files(t, filepath.Join(inShard(whole), c.tree)) {
			image := testkit.CopyDir(t, whole)
			if err := os.RemoveAll(filepath.Join(inShard(image), c.tree, path)); err != nil {
				t.Fatal(err)
			}
			checkJoined(t, image, at, 25)
		}
	}
}

// files lists a tree, directories included.
func files(t *testing.T, dir string) (paths []string) {
	t.Helper()
	err := fs.WalkDir(os.DirFS(dir), ".", func(path string, _ fs.DirEntry, err error) error {
		paths = append(paths, path)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return paths
}

// tree returns the names and contents of the files in a directory.
func tree(t *testing.T, dir string) map[string]string {
	t.Helper()
	out := map[string]string{}
	for _, path := range files(t, dir) {
		if b, err := os.ReadFile(filepath.Join(dir, path)); err == nil {
			out[path] = string(b)
		}
	}
	return out
}
