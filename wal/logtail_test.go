package wal

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"testing"
)

// TestSaveTail saves the ends of an open log while commits are appended to it. The log is as before.
func TestSaveTail(t *testing.T) {
	l := mustOpen(t, testOptions(newTestLog(t, 20)))
	var writer sync.WaitGroup
	writer.Go(func() { mustAppend(t, l, 3*testSegmentLSNs) })
	for keep := range LSN(20) {
		path := filepath.Join(t.TempDir(), "tail.frames")
		before := l.Last().LSN
		saved, err := l.SaveTail(keep, path)
		last := keep + LSN(saved)
		if err != nil || last < before || last > l.Last().LSN {
			t.Fatalf("saved %d after %d, %v; the log went from %d to %d", saved, keep, err, before, l.Last().LSN)
		}
		savedFrames(t, path, keep+1, last)
	}
	writer.Wait()
	checkFrames(t, l, 1, 20+3*testSegmentLSNs)
}

func TestSaveTailRefuses(t *testing.T) {
	l := mustOpen(t, testOptions(newTestLog(t, 20)))
	if err := l.TruncateFront(10); err != nil {
		t.Fatal(err)
	}
	path := savedName(l.opts.Dir)
	for _, keep := range []LSN{20, 21, 99} {
		if saved, err := l.SaveTail(keep, path); saved != 0 || err != nil {
			t.Errorf("after %d: %d, %v", keep, saved, err)
		}
	}
	if _, err := l.SaveTail(8, path); !errors.Is(err, ErrOutOfRange) {
		t.Errorf("before the log: %v", err)
	}
	if _, err := os.Stat(path); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("there is a file: %v", err)
	}
	if saved, err := l.SaveTail(9, path); saved != 11 || err != nil {
		t.Errorf("all: %d, %v", saved, err)
	}
	if _, err := l.SaveTail(15, path); !errors.Is(err, fs.ErrExist) {
		t.Errorf("over another file: %v", err)
	}
	savedFrames(t, path, 10, 20)
	mustClose(t, l)
	if _, err := l.SaveTail(15, path+".late"); !errors.Is(err, ErrClosed) {
		t.Errorf("after Close: %v", err)
	}
}

// TestSaveTailFails: no part of a file is left, whichever step fails, and a copy that differs from what
// it is a copy of is a failure too.
func TestSaveTailFails(t *testing.T) {
	dir := newTestLog(t, 20)
	path := savedName(dir)
	for _, step := range []string{"create diverged.frames.TEMP", "rename diverged.frames"} {
		opts := testOptions(dir)
		opts.disk = &stepDisk{before: func(op string) error {
			if op == step {
				return errInjected
			}
			return nil
		}}
		l := mustOpen(t, opts)
		if _, err := l.SaveTail(3, path); !errors.Is(err, errInjected) {
			t.Errorf("%s: %v", step, err)
		}
		mustAppend(t, l, 1) // not poisoned
		mustClose(t, l)
	}
	l := mustOpen(t, testOptions(dir))
	l.opts.disk = lossyDisk{}
	if _, err := l.SaveTail(3, path); err == nil {
		t.Error("a wrong copy was accepted")
	}
	if left, _ := filepath.Glob(path + "*"); len(left) > 0 {
		t.Errorf("left %v", left)
	}
}

// TestDumpFileOfASegment: a saved file is made as a segment is, so that a segment reads as one.
func TestDumpFileOfASegment(t *testing.T) {
	var lsns []LSN
	err := DumpFile("testdata/v1.segment", func(f Frame) error { lsns = append(lsns, f.LSN); return nil })
	if err != nil || len(lsns) == 0 || !slices.IsSorted(lsns) {
		t.Fatalf("%v, %v", lsns, err)
	}
	stop := errors.New("enough")
	if err := DumpFile("testdata/v1.segment", func(Frame) error { return stop }); !errors.Is(err, stop) {
		t.Errorf("an error of fn: %v", err)
	}
	if err := DumpFile("testdata/none", nil); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("no file: %v", err)
	}
}

// TestDumpFileDamaged cuts a saved file anywhere but at the ends of frames, and flips bits in it.
func TestDumpFileDamaged(t *testing.T) {
	l := mustOpen(t, testOptions(newTestLog(t, 20)))
	path := savedName(l.opts.Dir)
	if _, err := l.SaveTail(17, path); err != nil {
		t.Fatal(err)
	}
	whole, err := os.ReadFile(path)
	if err != nil || len(whole) != 3*testEntryBytes {
		t.Fatalf("%d bytes, %v", len(whole), err)
	}
	check := func(b []byte, at int) {
		t.Helper()
		writeFile(t, path, b)
		frames := 0
		c := wantCorruption(t, DumpFile(path, func(Frame) error { frames++; return nil }))
		frame := at / testEntryBytes
		if frames != frame || c.Offset != int64(frame*testEntryBytes) || c.LSN != 0 && c.LSN != LSN(18+frame) || c.Segment != filepath.Base(path) {
			t.Fatalf("damage at %d: %d frames, %v", at, frames, c)
		}
	}
	for at := 0; at < len(whole); at += 3 {
		if at%testEntryBytes != 0 || at == 0 {
			check(whole[:at], at)
		}
		flipped := slices.Clone(whole)
		flipped[at] ^= 0x10
		check(flipped, at)
	}
}

func TestPositionOf(t *testing.T) {
	l := mustOpen(t, testOptions(newTestLog(t, 0)))
	want := []Position{{}}
	for lsn := LSN(1); lsn <= 22; lsn++ {
		at, err := l.Append(1+lsn/5, testPayload(lsn, testPayloadBytes))
		if err != nil {
			t.Fatal(err)
		}
		want = append(want, at)
	}
	for _, base := range []LSN{0, 9} {
		if err := l.TruncateFront(base + 1); err != nil {
			t.Fatal(err)
		}
		for lsn := range LSN(25) {
			at, err := l.PositionOf(lsn)
			if lsn < base || lsn > 22 {
				if !errors.Is(err, ErrOutOfRange) {
					t.Errorf("LSN %d of %d to 22: %v, %v", lsn, base, at, err)
				}
			} else if err != nil || at != want[lsn] {
				t.Errorf("LSN %d: %v, %v, want %v", lsn, at, err, want[lsn])
			}
		}
	}
	mustClose(t, l)
	if _, err := l.PositionOf(20); !errors.Is(err, ErrClosed) {
		t.Errorf("after Close: %v", err)
	}
}
