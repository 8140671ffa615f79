package wal

import (
	"encoding/binary"
	"errors"
	"hash/crc32"
	"maps"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
)

// TestMarkDurable: a mark costs two syncs, none if nothing came since, and is what a later Verify reports.
func TestMarkDurable(t *testing.T) {
	var ops []string
	opts := testOptions(filepath.Join(t.TempDir(), "wal"))
	opts.disk = &stepDisk{before: func(op string) error { ops = append(ops, op); return nil }}
	l := mustOpen(t, opts)
	mark := []string{"create SEGMENTS.TEMP", "rename SEGMENTS", "syncdir wal"}
	for _, n := range []int{0, 1, 0, testSegmentLSNs, 0} {
		mustAppend(t, l, n)
		ops = nil
		if err := l.MarkDurable(); err != nil {
			t.Fatal(err)
		}
		if want := mark[:min(n, 1)*len(mark)]; !slices.Equal(ops, want) {
			t.Fatalf("after %d commits a mark took %v, want %v", n, ops, want)
		}
	}
	last := l.Last()
	mustAppend(t, l, 3)
	mustKill(t, l)
	if r, err := Verify(opts.Dir); err != nil || r.Watermark != last || r.Listed != 2 || r.Last.LSN != last.LSN+3 {
		t.Fatalf("%+v, %v", r, err)
	}
	if err := l.MarkDurable(); !errors.Is(err, ErrClosed) {
		t.Errorf("after Close: %v", err)
	}
}

// TestMarkWithoutRoom: a full disk or too many open files keep a mark from being made and nothing else; a
// failed sync ends all writing.
func TestMarkWithoutRoom(t *testing.T) {
	var refuse error
	opts := testOptions(filepath.Join(t.TempDir(), "wal"))
	opts.disk = &stepDisk{before: func(op string) error {
		if op == "create SEGMENTS.TEMP" || op == "syncdir wal" {
			return refuse
		}
		return nil
	}}
	l := mustOpen(t, opts)
	for _, refuse = range []error{syscall.ENOSPC, syscall.EMFILE} {
		mustAppend(t, l, 1)
		if err := l.MarkDurable(); !errors.Is(err, ErrNotMarked) || !errors.Is(err, refuse) {
			t.Fatalf("%v: %v", refuse, err)
		}
	}
	refuse = nil
	mustAppend(t, l, 1)
	if err := l.MarkDurable(); err != nil {
		t.Fatal(err)
	}
	mustAppend(t, l, 1)
	refuse = syscall.EIO
	if err := l.MarkDurable(); !errors.Is(err, ErrPoisoned) {
		t.Fatal(err)
	}
}

// TestEachMishap tries each file of a log for each mishap, in a log that was closed, and in one whose
// process was killed right after a mark. It is refused, with the file's name, and nothing is changed; or
// all commits are there.
func TestEachMishap(t *testing.T) {
	closed := newClosedLog(t, 34)
	for name, files := range map[string]map[string]string{"closed": contents(t, closed), "killed": killedAfterMark(t)} {
		older := contents(t, newTestLog(t, 0))
		for file, content := range files {
			for mishap, spoil := range map[string]func(path string) error{
				"removed": os.Remove,
				"renamed": func(path string) error { return os.Rename(path, path+".old") },
				"emptied": func(path string) error { return os.Truncate(path, 0) },
				"cut":     func(path string) error { return os.Truncate(path, int64(len(content)-1)) },
				"halved":  func(path string) error { return os.Truncate(path, int64(len(content)/testEntryBytes/2*testEntryBytes)) },
				"foreign": func(path string) error { return os.WriteFile(path, []byte(older[file]), fileMode) },
			} {
				dir := writeContents(t, files)
				if err := spoil(filepath.Join(dir, file)); err != nil {
					t.Fatal(err)
				}
				checkRefusedOrWhole(t, name+", "+file+" "+mishap, dir, file)
			}
		}
	}
}

// killedAfterMark returns the files of a log of 34 commits, the last of which a mark has noted.
func killedAfterMark(t *testing.T) map[string]string {
	t.Helper()
	l := mustOpen(t, testOptions(newTestLog(t, 30)))
	mustAppend(t, l, 4)
	if err := l.MarkDurable(); err != nil {
		t.Fatal(err)
	}
	mustKill(t, l)
	return contents(t, l.opts.Dir)
}

func checkRefusedOrWhole(t *testing.T, what, dir, file string) {
	t.Helper()
	before := contents(t, dir)
	opts := testOptions(dir)
	opts.disk = idleDisk{}
	l, err := Open(opts)
	if err == nil {
		if l.First() != 1 || l.Last().LSN != 34 {
			t.Errorf("%s: opened with %d to %d", what, l.First(), l.Last().LSN)
		}
		mustClose(t, l)
		return
	}
	if wantCorruption(t, err); !strings.Contains(err.Error(), file) {
		t.Errorf("%s: refused without the name: %v", what, err)
	}
	for name, b := range contents(t, dir) {
		if before[name] != b {
			t.Errorf("%s: the refusal has changed %s", what, name)
		}
	}
}

// TestSegmentNotYetListed: a crash between the beginning of a segment and the next mark leaves segments that
// the list does not have. They belong to the log all the same.
func TestSegmentNotYetListed(t *testing.T) {
	dir := newTestLog(t, 30)
	l := mustOpen(t, testOptions(dir))
	checkFrames(t, l, 1, 30)
	mustKill(t, l)
	if r, err := Verify(dir); err != nil || r.Listed != 4 || r.Watermark.LSN != 30 {
		t.Fatalf("after Open: %+v, %v", r, err)
	}
}

// TestListOfAnotherHistory: a list whose watermark is another commit than the log has is of another copy.
func TestListOfAnotherHistory(t *testing.T) {
	dir := newClosedLog(t, 12)
	list, err := loadList(dir)
	if err != nil {
		t.Fatal(err)
	}
	for name, change := range map[string]func(*segmentList){
		"log id":        func(s *segmentList) { s.logID++ },
		"hash":          func(s *segmentList) { s.watermark.Hash[0]++ },
		"older hash":    func(s *segmentList) { s.watermark.LSN = 3 },
		"other segment": func(s *segmentList) { s.firsts[1]++ },
		"beyond":        func(s *segmentList) { s.watermark.LSN = math.MaxInt64 },
	} {
		changed := *list
		changed.firsts = slices.Clone(list.firsts)
		change(&changed)
		writeFile(t, filepath.Join(dir, listName), changed.encode())
		_, err := Open(testOptions(dir))
		if wantCorruption(t, err); err == nil {
			t.Errorf("%s: opened", name)
		}
	}
}

// TestRelist: an operator may go on with what is left, and with nothing less: a hole stays one.
func TestRelist(t *testing.T) {
	for name, tc := range map[string]struct {
		lose      string
		was, ends LSN
	}{
		"newest segment": {segmentName(28), 34, 27},
		"list":           {listName, 0, 34},
	} {
		opts := testOptions(newClosedLog(t, 34))
		if err := os.Remove(filepath.Join(opts.Dir, tc.lose)); err != nil {
			t.Fatal(err)
		}
		_, err := Open(opts)
		wantCorruption(t, err)
		done, err := Relist(opts)
		if err != nil || done.Watermark.LSN != tc.was || done.Ended.LSN != tc.ends || done.Last != done.Ended {
			t.Fatalf("%s: %+v, %v", name, done, err)
		}
		checkFrames(t, mustOpen(t, opts), 1, tc.ends)
	}
	opts := testOptions(newClosedLog(t, 34))
	if err := os.Remove(filepath.Join(opts.Dir, segmentName(10))); err != nil {
		t.Fatal(err)
	}
	before := contents(t, opts.Dir)
	_, err := Relist(opts)
	if wantCorruption(t, err); !maps.Equal(before, contents(t, opts.Dir)) {
		t.Fatal("a log with a hole was changed")
	}
	empty := testOptions(t.TempDir())
	_, err = Relist(empty)
	wantCorruption(t, err)
	if entries, err := os.ReadDir(empty.Dir); err != nil || len(entries) > 0 {
		t.Errorf("a directory that is no log has %v now, %v", entries, err)
	}
}

// TestListIsBounded: a log of very many segments lists the newest ones.
func TestListIsBounded(t *testing.T) {
	segments := make([]segment, listedMax+3)
	for i := range segments {
		segments[i].before.LSN = LSN(10 * i)
	}
	list := listOf(1, Position{}, Position{LSN: 50_000}, segments)
	if list.first != 1 || len(list.firsts) != listedMax || list.firsts[0] != 31 {
		t.Fatalf("first %d, %d segments from %d on", list.first, len(list.firsts), list.firsts[0])
	}
	if got, err := decodeList(list.encode()); err != nil || !got.equal(list) {
		t.Fatalf("decoded %d segments, %v", len(got.firsts), err)
	}
}

// FuzzDecodeList: no bytes make the decoder panic, and what it takes is what it would write.
func FuzzDecodeList(f *testing.F) {
	f.Add(goldenList().encode())
	f.Add((&segmentList{first: 1}).encode())
	f.Add([]byte(listMagic))
	f.Fuzz(func(t *testing.T, b []byte) {
		if n := len(b); n >= 4 { // with a right checksum more of it is reached
			binary.LittleEndian.PutUint32(b[n-4:], crc32.Checksum(b[:n-4], castagnoli))
		}
		s, err := decodeList(b)
		if err == nil && string(s.encode()) != string(b) {
			t.Errorf("%x decodes to %+v", b, s)
		}
	})
}
