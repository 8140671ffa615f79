package server

import (
	"bytes"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/carillon-io/carillon/datadir"
	"github.com/carillon-io/carillon/testkit"
	"github.com/carillon-io/carillon/wal"
)

// mishap is something that happens to one file of a directory.
type mishap struct {
	name string
	do   func(path string) error
}

// mishapsOf returns what can happen to a file. older are the paths of older copies of it, which need not exist.
func mishapsOf(t *testing.T, path string, older []string) []mishap {
	t.Helper()
	now, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	all := []mishap{{"removed", os.Remove}, {"renamed", func(path string) error { return os.Rename(path, path+".old") }}}
	if len(now) > 0 {
		all = append(all, mishap{"emptied", func(path string) error { return os.Truncate(path, 0) }},
			mishap{"cut", func(path string) error { return os.Truncate(path, int64(len(now)-1)) }},
			mishap{"halved", func(path string) error { return os.Truncate(path, int64(len(now)/2)) }})
		if filepath.Ext(path) != ".sst" { // whose blocks are checked when they are read
			all = append(all, flip("first byte flipped", now, 0), flip("middle flipped", now, len(now)/2), flip("end flipped", now, len(now)-min(len(now), 9)))
		}
	}
	seen := map[string]bool{string(now): true}
	for i, path := range older {
		b, err := os.ReadFile(path)
		if err != nil || seen[string(b)] {
			continue
		}
		seen[string(b)] = true
		all = append(all, mishap{fmt.Sprintf("replaced by copy %d", i), func(path string) error { return os.WriteFile(path, b, 0o640) }})
	}
	return all
}

// flip changes a bit of one byte.
func flip(name string, now []byte, at int) mishap {
	b := bytes.Clone(now)
	b[at] ^= 4
	return mishap{name, func(path string) error { return os.WriteFile(path, b, 0o640) }}
}

// TestEachFileIsMissed tries every mishap on every file of a directory: after a close, after a kill, and after
// a kill before the log had recorded what the store has. Either the start is refused, with the name of the file
// and no byte changed, and succeeds once the file is back in its place; or it succeeds at once.
func TestEachFileIsMissed(t *testing.T) {
	l := liveALife(t)
	for state, dir := range map[string]string{"closed": l.closed, "killed": l.killed, "unmarked": l.unmarked} {
		if testkit.Brief() && state != "killed" {
			continue // the same goroutines
		}
		checkNewestHolds(t, dir)
		var refused, tried atomic.Int32
		t.Run(state, func(t *testing.T) { // it returns when all files are done
			for _, file := range filesOf(t, dir) {
				if state == "unmarked" && !strings.HasPrefix(file, logPath) {
					continue // it differs from the killed one in the log alone
				}
				t.Run(file, func(t *testing.T) {
					t.Parallel()
					l.sufferAll(t, state, dir, file, &refused, &tried)
				})
			}
		})
		t.Logf("%s: %d of %d were refused, the others lost nothing", state, refused.Load(), tried.Load())
		if refused.Load() < 20 {
			t.Errorf("%s: %d mishaps were refused", state, refused.Load())
		}
	}
}

// sufferAll tries every mishap on one file, and counts them.
func (l *life) sufferAll(t *testing.T, state, dir, file string, refused, tried *atomic.Int32) {
	t.Helper()
	var older []string
	for _, from := range l.older {
		older = append(older, filepath.Join(from, file))
	}
	for _, m := range mishapsOf(t, filepath.Join(dir, file), older) {
		tried.Add(1)
		if l.suffer(t, state, dir, file, m) {
			refused.Add(1)
		}
	}
}

// suffer applies a mishap to a file in a copy of the directory, and reports whether the start was refused.
func (l *life) suffer(t *testing.T, state, dir, file string, m mishap) (refused bool) {
	t.Helper()
	what := fmt.Sprintf("%s, %s %s", state, file, m.name)
	hit := filepath.Join(t.TempDir(), "hit")
	copyParts(t, dir, hit)
	if err := m.do(filepath.Join(hit, file)); err != nil {
		t.Fatal(err)
	}
	before := bytesOf(t, hit)
	d, err := openShard(datadir.Options{Dir: hit, Logger: discard}, datadir.ShardOptions{SegmentBytes: 4 << 10})
	if err == nil {
		l.checkWhole(t, what, d)
		return false
	}
	if after := bytesOf(t, hit); !maps.Equal(before, after) {
		t.Errorf("%s: the refusal has changed the directory: %s", what, changes(before, after))
	}
	name := filepath.Base(file)
	if marker, ok := strings.CutPrefix(name, "marker."); ok { // the numbers in its name are nowhere else
		kind, _, _ := strings.Cut(marker, ".")
		name = "marker." + kind
	}
	if !strings.Contains(err.Error(), name) {
		t.Errorf("%s: refused without the name: %v", what, err)
	}
	_ = os.Remove(filepath.Join(hit, file+".old"))
	b, err := os.ReadFile(filepath.Join(dir, file))
	if err == nil {
		err = os.WriteFile(filepath.Join(hit, file), b, 0o640)
	}
	if err != nil {
		t.Fatal(err)
	}
	if d, err = openShard(datadir.Options{Dir: hit, Logger: discard}, datadir.ShardOptions{SegmentBytes: 4 << 10}); err != nil {
		t.Errorf("%s: with the file put back: %v", what, err)
		return true
	}
	l.checkWhole(t, what+", and put back", d)
	return true
}

// TestPartsAreMissed: a part that is gone, or empty, is never made anew in a directory that had it, and the
// refusal says which it is. Without the whole directory's content it is a new one.
func TestPartsAreMissed(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "data")
	d := openTestData(t, dir)
	commit(t, d, 1, 200)
	mustClose(t, d)
	for name, gone := range map[string][]string{"log": {logPath}, "store": {storePath}, "both": {logPath, storePath}} {
		for _, emptied := range []bool{false, true} {
			for _, older := range []bool{false, true} { // as the first release left it: without PARTS, in a cluster
				hit := filepath.Join(t.TempDir(), "hit")
				copyParts(t, dir, hit)
				opts := datadir.Options{Dir: hit, Logger: discard}
				if older {
					opts.ClusterName = "test"
					becomeOlder(t, hit)
				}
				for _, part := range gone {
					removeAll(t, filepath.Join(hit, part))
					if emptied {
						makeDir(t, filepath.Join(hit, part))
					}
				}
				_, err := openShard(opts, datadir.ShardOptions{})
				var e *datadir.GoneError
				if !errors.As(err, &e) || fmt.Sprint(e.Parts) != fmt.Sprint(gone) || !strings.Contains(err.Error(), "to begin anew") {
					t.Errorf("%s, emptied %t, older %t: %v", name, emptied, older, err)
				}
				removeAll(t, hit)
				mustClose(t, openTestData(t, hit))
			}
		}
	}
}

// TestRestoredPartsAreMissed: a directory that was restored, and one that is known as an installation, miss their parts
// before they were ever served, or without PARTS.
func TestRestoredPartsAreMissed(t *testing.T) {
	_, _, c := startAlone(t, filepath.Join(t.TempDir(), "data"))
	mustPut(t, c, natsJob("a", "@every 1h"))
	restored := filepath.Join(t.TempDir(), "restored")
	if _, err := datadir.Restore(restored, bytes.NewReader(takeBackup(t, c)), discard); err != nil {
		t.Fatal(err)
	}
	installed := filepath.Join(t.TempDir(), "installed")
	mustClose(t, openTestData(t, installed))
	if _, err := datadir.OpenInstallation(installed); err != nil {
		t.Fatal(err)
	}
	removeAll(t, filepath.Join(installed, datadir.PartsName))
	for _, dir := range []string{restored, installed} {
		for _, part := range []string{logPath, storePath} {
			removeAll(t, filepath.Join(dir, part))
			makeDir(t, filepath.Join(dir, part))
		}
		var e *datadir.GoneError
		if _, err := openShard(datadir.Options{Dir: dir, Logger: discard}, datadir.ShardOptions{}); !errors.As(err, &e) {
			t.Errorf("%s: %v", dir, err)
		}
	}
}

// becomeOlder makes a directory that of a node in a cluster whose release wrote no PARTS.
func becomeOlder(t *testing.T, dir string) {
	t.Helper()
	removeAll(t, filepath.Join(dir, datadir.PartsName))
	node := `{"version":1,"node":"a","cluster":"test","cluster_id":"` + strings.Repeat("ab", 16) + `"}` + "\n"
	if err := os.WriteFile(filepath.Join(dir, datadir.NodeName), []byte(node), 0o640); err != nil {
		t.Fatal(err)
	}
}

// TestFirstStartIsInterrupted: the directory that a crash in a first start leaves does not count as one that
// has lost something.
func TestFirstStartIsInterrupted(t *testing.T) {
	for name, leave := range map[string]func(dir string){
		"before the log":   func(dir string) { makeDir(t, filepath.Join(dir, logPath)) },
		"before the store": func(dir string) { makeLog(t, filepath.Join(dir, logPath)) },
		"before PARTS": func(dir string) {
			mustClose(t, openTestData(t, dir))
			removeAll(t, filepath.Join(dir, datadir.PartsName))
		},
		"file systems of their own": func(dir string) {
			makeDir(t, filepath.Join(dir, logPath, "lost+found"))
			makeDir(t, filepath.Join(dir, storePath, "lost+found"))
		},
	} {
		t.Run(name, func(t *testing.T) {
			dir := filepath.Join(t.TempDir(), "data")
			leave(dir)
			d := openTestData(t, dir)
			commit(t, d, 1, 10)
			mustClose(t, d)
			mustClose(t, openTestData(t, dir))
		})
	}
}

func makeLog(t *testing.T, dir string) {
	t.Helper()
	makeDir(t, filepath.Dir(dir))
	log, err := wal.Open(wal.Options{Dir: dir})
	if err == nil {
		err = log.Close()
	}
	if err != nil {
		t.Fatal(err)
	}
}

func makeDir(t *testing.T, dir string) {
	t.Helper()
	if err := os.MkdirAll(dir, 0o750); err != nil {
		t.Fatal(err)
	}
}

func removeAll(t *testing.T, path string) {
	t.Helper()
	if err := os.RemoveAll(path); err != nil {
		t.Fatal(err)
	}
}
