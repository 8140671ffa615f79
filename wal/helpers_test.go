package wal

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// oneAtATime is why the race detector finds nothing in tests that open hundreds of logs.
const oneAtATime = "one goroutine opens each log; in TestReadersBesideTheWriter and TestTruncationUnderAReader several meet"

// The builders below make small logs: 400-byte payloads, nine commits to a segment of 4 KiB.
const (
	testSegmentBytes = SegmentBytesMin
	testPayloadBytes = 400
	testEntryBytes   = 2 + headerBytes + testPayloadBytes
	testSegmentLSNs  = 9
)

// testPayload is the payload of a commit: its LSN and filler that depends on it.
func testPayload(lsn LSN, size int) []byte {
	b := bytes.Repeat([]byte{byte(lsn)}, size)
	copy(b, fmt.Sprintf("commit %d;", lsn))
	return b
}

// testOptions are small segments without a space check.
func testOptions(dir string) Options {
	return Options{Dir: dir, SegmentBytes: testSegmentBytes, ReserveBytes: -1}
}

func mustOpen(t testing.TB, opts Options) *Log {
	t.Helper()
	l, err := Open(opts)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = l.Close() })
	return l
}

func mustAppend(t testing.TB, l *Log, n int) {
	t.Helper()
	for range n {
		if _, err := l.Append(1, testPayload(l.Last().LSN+1, testPayloadBytes)); err != nil {
			t.Fatal(err)
		}
	}
}

func mustClose(t testing.TB, c io.Closer) {
	t.Helper()
	if err := c.Close(); err != nil {
		t.Fatal(err)
	}
}

// newTestLog returns the directory of a log of n commits whose process was killed before it noted any
// of them as durable: its list is the one of an empty log.
func newTestLog(t testing.TB, n int) string {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "wal")
	l := mustOpen(t, testOptions(dir))
	mustAppend(t, l, n)
	mustKill(t, l)
	return dir
}

// mustKill closes a log and leaves its list as it was: that is what a kill leaves.
func mustKill(t testing.TB, l *Log) {
	t.Helper()
	path := filepath.Join(l.opts.Dir, listName)
	list, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	mustClose(t, l)
	writeFile(t, path, list)
}

// newClosedLog returns the directory of a log of n commits that was closed, and so has noted them all.
func newClosedLog(t testing.TB, n int) string {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "wal")
	l := mustOpen(t, testOptions(dir))
	mustAppend(t, l, n)
	mustClose(t, l)
	return dir
}

// checkFrames reads the whole log and compares each commit with what newTestLog wrote.
func checkFrames(t testing.TB, l *Log, first, last LSN) {
	t.Helper()
	if l.First() != first || l.Last().LSN != last {
		t.Fatalf("the log keeps %d to %d, want %d to %d", l.First(), l.Last().LSN, first, last)
	}
	r, err := l.NewReader(first)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	for lsn := first; lsn <= last; lsn++ {
		f, err := r.Next()
		if err != nil {
			t.Fatal(err)
		}
		if f.LSN != lsn || !bytes.Equal(f.Payload, testPayload(lsn, len(f.Payload))) {
			t.Fatalf("commit %d reads as LSN %d with payload %.20q", lsn, f.LSN, f.Payload)
		}
	}
	if _, err := r.Next(); !errors.Is(err, io.EOF) {
		t.Fatalf("after the last commit: %v, want EOF", err)
	}
}

// contents returns every file of dir but the lock, by name.
func contents(t testing.TB, dir string) map[string]string {
	t.Helper()
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	files := map[string]string{}
	for _, e := range entries {
		if e.Name() == lockName || e.IsDir() {
			continue
		}
		b, err := os.ReadFile(filepath.Join(dir, e.Name()))
		if err != nil {
			t.Fatal(err)
		}
		files[e.Name()] = string(b)
	}
	return files
}

// writeContents makes a directory of these files.
func writeContents(t testing.TB, files map[string]string) string {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "wal")
	if err := os.Mkdir(dir, dirMode); err != nil {
		t.Fatal(err)
	}
	for name, b := range files {
		writeFile(t, filepath.Join(dir, name), []byte(b))
	}
	return dir
}

func writeFile(t testing.TB, path string, b []byte) {
	t.Helper()
	if err := os.WriteFile(path, b, fileMode); err != nil {
		t.Fatal(err)
	}
}

// editFile passes a file through edit.
func editFile(t testing.TB, path string, edit func([]byte) []byte) {
	t.Helper()
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	writeFile(t, path, edit(b))
}

// segmentFiles returns the paths of the segments, in order.
func segmentFiles(t testing.TB, dir string) []string {
	t.Helper()
	paths, err := filepath.Glob(filepath.Join(dir, strings.Repeat("[0-9]", segmentNameBytes)))
	if err != nil {
		t.Fatal(err)
	}
	return paths
}

// wantCorruption fails unless err is a CorruptionError, and returns it.
func wantCorruption(t testing.TB, err error) *CorruptionError {
	t.Helper()
	var c *CorruptionError
	if !errors.As(err, &c) {
		t.Fatalf("got %v, want a CorruptionError", err)
	}
	return c
}

// appendEntry appends a frame as the library puts it into a segment.
func appendEntry(dst, frame []byte) []byte {
	return append(binary.AppendUvarint(dst, uint64(len(frame))), frame...)
}

func sortedNames(files map[string]string) []string {
	return slices.Sorted(maps.Keys(files))
}
