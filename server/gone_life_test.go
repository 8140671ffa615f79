package server

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/carillon-io/carillon/client/clienttest"
	"github.com/carillon-io/carillon/datadir"
	"github.com/carillon-io/carillon/job"
	"github.com/carillon-io/carillon/wal"
)

// life is what a server leaves: the directory after a close, as a kill would have left it, and as it was at
// earlier moments.
type life struct {
	closed, killed string
	unmarked       string // killed when the store had just been flushed, and the log had not noted its end
	older          []string
	jobs           int // that were acknowledged
}

// liveALife runs a server over three checkpoints with jobs between them, some of them after the last one.
func liveALife(t *testing.T) life {
	t.Helper()
	root := t.TempDir()
	dir := filepath.Join(root, "data")
	l := life{closed: dir, killed: filepath.Join(root, "killed"), unmarked: filepath.Join(root, "unmarked")}
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
			if err := s.first().data.Checkpoint(t.Context()); err != nil {
				t.Fatal(err)
			}
			l.putJobs(t, s, 20)
			older := filepath.Join(root, fmt.Sprintf("older%d", len(l.older)))
			copyMarked(t, s, older)
			l.older = append(l.older, older)
		}
		l.putJobs(t, s, 44) // so that the newest segment holds some
		if turn == 1 {
			copyMarked(t, s, l.killed)
			l.copyUnmarked(t, s)
		}
		if err := s.Close(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	return l
}

func (l *life) putJobs(t *testing.T, s *Server, n int) {
	t.Helper()
	nc, c := clienttest.Connect(t, s.Ready().NATS)
	defer nc.Close()
	for range n {
		mustPut(t, c, natsJob(fmt.Sprintf("job-%d", l.jobs), "@yearly"))
		l.jobs++
	}
}

// copyMarked copies the directory of a server that is left alone, when all that it has acknowledged is
// noted as durable. That is what a kill some seconds after the last change leaves.
func copyMarked(t *testing.T, s *Server, to string) {
	t.Helper()
	for end := time.Now().Add(30 * time.Second); ; {
		if err := os.RemoveAll(to); err != nil {
			t.Fatal(err)
		}
		err := tryCopyParts(s.dir.Dir(), to)
		if err == nil {
			var r wal.Report
			r, err = wal.Verify(filepath.Join(to, logPath))
			if err == nil && r.Watermark == r.Last && r.Last == s.first().data.Log().Last() {
				return
			}
		}
		if time.Now().After(end) {
			t.Fatalf("the end of the log is never noted: %v", err)
		}
	}
}

// copyUnmarked copies the directory after the store was flushed, as a backup or a full memtable does it, with
// the list of the log as it was some commits before.
func (l *life) copyUnmarked(t *testing.T, s *Server) {
	t.Helper()
	list, err := os.ReadFile(filepath.Join(l.older[len(l.older)-1], logPath, "SEGMENTS"))
	if err == nil {
		_, err = s.first().data.Store().Checkpoint(t.Context())
	}
	if err == nil {
		copyMarked(t, s, l.unmarked)
		err = os.WriteFile(filepath.Join(l.unmarked, logPath, "SEGMENTS"), list, 0o640)
	}
	if err != nil {
		t.Fatal(err)
	}
}

// copyParts copies what may be lost: the parts, and the files that record that they exist.
func copyParts(t *testing.T, from, to string) {
	t.Helper()
	if err := tryCopyParts(from, to); err != nil {
		t.Fatal(err)
	}
}

// tryCopyParts does the same. A copy of a directory in use can meet a file that goes meanwhile.
func tryCopyParts(from, to string) error {
	for _, name := range []string{logPath, storePath} {
		if err := os.CopyFS(filepath.Join(to, name), os.DirFS(filepath.Join(from, name))); err != nil {
			return err
		}
	}
	b, err := os.ReadFile(filepath.Join(from, datadir.PartsName))
	if err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(to, datadir.PartsName), b, 0o640)
}

// checkNewestHolds checks that the newest segment of a log has commits, because losing an empty one proves
// nothing.
func checkNewestHolds(t *testing.T, dir string) {
	t.Helper()
	segments, err := filepath.Glob(filepath.Join(dir, logPath, "0*"))
	if err != nil || len(segments) == 0 {
		t.Fatalf("no segments: %v", err)
	}
	info, err := os.Stat(segments[len(segments)-1])
	if err != nil || info.Size() == 0 {
		t.Fatalf("the newest segment is empty: %v; let the life have some jobs more", err)
	}
}

// checkWhole checks that a directory has all jobs, and closes it.
func (l *life) checkWhole(t *testing.T, what string, d *datadir.Shard) {
	t.Helper()
	jobs := 0
	low := []byte{byte(job.KindName)}
	err := d.Store().Scan(low, job.PrefixEnd(low), func(_, _ []byte) (bool, error) { jobs++; return true, nil })
	if err != nil || jobs != l.jobs || countTimers(t, d) != l.jobs {
		t.Errorf("%s: %d jobs and %d timers of %d are there: %v", what, jobs, countTimers(t, d), l.jobs, err)
	}
	if err := errors.Join(d.Close(), d.Directory().Close()); err != nil {
		t.Errorf("%s: %v", what, err)
	}
}

// filesOf returns the files of the parts, but the locks, and PARTS.
func filesOf(t *testing.T, dir string) (files []string) {
	t.Helper()
	for _, part := range []string{logPath, storePath, datadir.PartsName} {
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

// bytesOf returns the content of all files of a directory but the locks, by path.
func bytesOf(t *testing.T, dir string) map[string]string {
	t.Helper()
	files := map[string]string{}
	err := filepath.WalkDir(dir, func(path string, e fs.DirEntry, err error) error {
		if err != nil || e.IsDir() || e.Name() == "LOCK" {
			return err
		}
		b, err := os.ReadFile(path)
		files[path] = string(b)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return files
}

// changes names the files that differ.
func changes(before, after map[string]string) (names []string) {
	all := maps.Clone(before)
	maps.Copy(all, after)
	for name := range all {
		was, had := before[name]
		if is, has := after[name]; was != is || had != has {
			names = append(names, name)
		}
	}
	return names
}
