package carillon

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/nats-io/nats.go"

	"github.com/carillon-io/carillon/client"
	"github.com/carillon-io/carillon/datadir"
	"github.com/carillon-io/carillon/job"
	"github.com/carillon-io/carillon/wal"
)

// life is what a server has left: the directory after it was closed, as a kill would have left it, and as
// it was at earlier moments of the same life.
type life struct {
	closed, killed string
	older          []string
	jobs           int // that were acknowledged
}

// liveALife runs a server over three checkpoints with jobs between them, some of them after the last.
func liveALife(t *testing.T) life {
	t.Helper()
	root := t.TempDir()
	dir := filepath.Join(root, "data")
	l := life{closed: dir, killed: filepath.Join(root, "killed")}
	for turn := range 2 { // the second begins with what the first has left
		s, err := Start(t.Context(), Options{
			Dir: dir, Listen: "127.0.0.1:0", HTTPListen: "127.0.0.1:0", Logger: discard, CheckpointEvery: time.Hour,
			segmentBytes: 4 << 10, markEvery: 10 * time.Millisecond,
		})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = s.Close(context.Background()) })
		for range 3 {
			l.putJobs(t, s, 40)
			if err := s.data.checkpoint(t.Context()); err != nil {
				t.Fatal(err)
			}
			l.putJobs(t, s, 20)
			older := filepath.Join(root, fmt.Sprintf("older%d", len(l.older)))
			copyParts(t, dir, older)
			l.older = append(l.older, older)
		}
		l.putJobs(t, s, 44) // so that the newest segment holds some
		if turn == 1 {
			l.copyMarked(t, s)
		}
		if err := s.Close(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	return l
}

func (l *life) putJobs(t *testing.T, s *Server, n int) {
	t.Helper()
	nc, err := nats.Connect(s.Ready().NATS)
	if err != nil {
		t.Fatal(err)
	}
	defer nc.Close()
	c, err := client.New(nc, client.Options{})
	if err != nil {
		t.Fatal(err)
	}
	for range n {
		mustPut(t, c, natsJob(fmt.Sprintf("job-%d", l.jobs), "@yearly"))
		l.jobs++
	}
}

// copyMarked copies the directory of a server that is left alone, when all that it has acknowledged is
// noted as durable. That is what a kill some seconds after the last change leaves.
func (l *life) copyMarked(t *testing.T, s *Server) {
	t.Helper()
	for end := time.Now().Add(30 * time.Second); ; {
		if err := os.RemoveAll(l.killed); err != nil {
			t.Fatal(err)
		}
		copyParts(t, s.data.dir, l.killed)
		r, err := wal.Verify(filepath.Join(l.killed, logName))
		if err == nil && r.Watermark == r.Last && r.Last == s.data.log.Last() {
			return
		}
		if time.Now().After(end) {
			t.Fatalf("the end of the log is never noted: %+v, %v", r, err)
		}
	}
}

// copyParts copies what may be lost: the parts, and what says that they are there.
func copyParts(t *testing.T, from, to string) {
	t.Helper()
	for _, name := range []string{logName, storeName} {
		if err := os.CopyFS(filepath.Join(to, name), os.DirFS(filepath.Join(from, name))); err != nil {
			t.Fatal(err)
		}
	}
	b, err := os.ReadFile(filepath.Join(from, datadir.PartsName))
	if err == nil {
		err = os.WriteFile(filepath.Join(to, datadir.PartsName), b, 0o640)
	}
	if err != nil {
		t.Fatal(err)
	}
}

// mishap is something that happens to one file of a directory.
type mishap struct {
	name string
	do   func(path string) error
}

// mishapsOf returns what may happen to a file. Older are the paths of older copies of it, which need not be
// there.
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

// TestEachFileIsMissed tries every file of a directory for every mishap, after a close and after a kill. The
// start is refused, with the name of the file, and with the file back in its place all is there; or all is
// there at once.
func TestEachFileIsMissed(t *testing.T) {
	l := liveALife(t)
	for state, dir := range map[string]string{"closed": l.closed, "killed": l.killed} {
		refused, tried := 0, 0
		checkNewestHolds(t, dir)
		for _, file := range filesOf(t, dir) {
			var older []string
			for _, from := range l.older {
				older = append(older, filepath.Join(from, file))
			}
			for _, m := range mishapsOf(t, filepath.Join(dir, file), older) {
				tried++
				if l.suffer(t, state, dir, file, m) {
					refused++
				}
			}
		}
		t.Logf("%s: %d of %d were refused, the others lost nothing", state, refused, tried)
		if refused < 30 {
			t.Errorf("%s: %d mishaps were refused", state, refused)
		}
	}
}

// checkNewestHolds checks that the newest segment of a log has commits: an empty one can be lost with nothing
// in it.
func checkNewestHolds(t *testing.T, dir string) {
	t.Helper()
	segments, err := filepath.Glob(filepath.Join(dir, logName, "0*"))
	if err != nil || len(segments) == 0 {
		t.Fatalf("no segments: %v", err)
	}
	info, err := os.Stat(segments[len(segments)-1])
	if err != nil || info.Size() == 0 {
		t.Fatalf("the newest segment is empty: %v; let the life have some jobs more", err)
	}
}

// suffer lets a mishap happen to a file in a copy of the directory, and reports whether it was refused.
func (l *life) suffer(t *testing.T, state, dir, file string, m mishap) (refused bool) {
	t.Helper()
	what := fmt.Sprintf("%s, %s %s", state, file, m.name)
	hit := filepath.Join(t.TempDir(), "hit")
	copyParts(t, dir, hit)
	if err := m.do(filepath.Join(hit, file)); err != nil {
		t.Fatal(err)
	}
	d, err := openData(Options{Dir: hit, Logger: discard, segmentBytes: 4 << 10}, nil)
	if err == nil {
		l.checkWhole(t, what, d)
		return false
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
	if d, err = openData(Options{Dir: hit, Logger: discard, segmentBytes: 4 << 10}, nil); err != nil {
		t.Errorf("%s: with the file put back: %v", what, err)
		return true
	}
	l.checkWhole(t, what+", and put back", d)
	return true
}

// checkWhole checks that a directory has all jobs, and closes it.
func (l *life) checkWhole(t *testing.T, what string, d *data) {
	t.Helper()
	jobs := 0
	low := []byte{byte(job.KindName)}
	err := d.store.Scan(low, job.PrefixEnd(low), func(_, _ []byte) (bool, error) { jobs++; return true, nil })
	if err != nil || jobs != l.jobs || countTimers(t, d) != l.jobs {
		t.Errorf("%s: %d jobs and %d timers of %d are there: %v", what, jobs, countTimers(t, d), l.jobs, err)
	}
	if err := d.close(); err != nil {
		t.Errorf("%s: %v", what, err)
	}
}

// filesOf returns the files of the parts, but the locks, and PARTS.
func filesOf(t *testing.T, dir string) (files []string) {
	t.Helper()
	for _, part := range []string{logName, storeName, datadir.PartsName} {
		err := fs.WalkDir(os.DirFS(dir), part, func(path string, e fs.DirEntry, err error) error {
			if err == nil && !e.IsDir() && e.Name() != "LOCK" {
				files = append(files, path)
			}
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	return files
}

// TestPartsAreMissed: a part that is gone, or empty, is never made anew in a directory that had it, and the
// refusal says which it is. Without the whole directory's content it is a new one.
func TestPartsAreMissed(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "data")
	d := openTestData(t, dir)
	commit(t, d, 1, 200)
	mustClose(t, d)
	for name, gone := range map[string][]string{"log": {logName}, "store": {storeName}, "both": {logName, storeName}} {
		for _, emptied := range []bool{false, true} {
			for _, older := range []bool{false, true} { // as the first release left it: without PARTS, in a cluster
				hit := filepath.Join(t.TempDir(), "hit")
				copyParts(t, dir, hit)
				opts := Options{Dir: hit, Logger: discard}
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
				_, err := openData(opts, nil)
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

// becomeOlder makes a directory that of a node in a cluster whose release wrote no PARTS.
func becomeOlder(t *testing.T, dir string) {
	t.Helper()
	removeAll(t, filepath.Join(dir, datadir.PartsName))
	id := identity{Version: identityVersion, Node: "a", Cluster: "test", ClusterID: strings.Repeat("ab", clusterIDBytes), dir: dir}
	if err := id.write(); err != nil {
		t.Fatal(err)
	}
}

// TestFirstStartIsInterrupted: what a crash in a first start leaves is no directory that has lost something.
func TestFirstStartIsInterrupted(t *testing.T) {
	for name, leave := range map[string]func(dir string){
		"before the log":   func(dir string) { makeDir(t, filepath.Join(dir, logName)) },
		"before the store": func(dir string) { makeLog(t, filepath.Join(dir, logName)) },
		"before PARTS": func(dir string) {
			mustClose(t, openTestData(t, dir))
			removeAll(t, filepath.Join(dir, datadir.PartsName))
		},
		"file systems of their own": func(dir string) {
			makeDir(t, filepath.Join(dir, logName, "lost+found"))
			makeDir(t, filepath.Join(dir, storeName, "lost+found"))
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
