package wal

import (
	"errors"
	"io"
	"path/filepath"
	"sync"
	"testing"
)

// A reader can begin at every commit and at the end, and nowhere else.
func TestReaderBegins(t *testing.T) {
	dir := newTestLog(t, 20)
	l := mustOpen(t, testOptions(dir))
	if err := l.TruncateFront(12); err != nil {
		t.Fatal(err)
	}
	for from := LSN(0); from <= 23; from++ {
		r, err := l.NewReader(from)
		if from < 10 || from > 21 {
			if !errors.Is(err, ErrOutOfRange) {
				t.Fatalf("from %d: %v", from, err)
			}
			continue
		}
		if err != nil {
			t.Fatal(err)
		}
		f, err := r.Next()
		if from == 21 {
			if !errors.Is(err, io.EOF) {
				t.Fatalf("at the end: %v", err)
			}
		} else if err != nil || f.LSN != from {
			t.Fatalf("from %d: LSN %d, %v", from, f.LSN, err)
		}
		mustClose(t, r)
		mustClose(t, r)
	}
}

// A reader at the end sees what is appended later, over the change of a segment.
func TestReaderFollows(t *testing.T) {
	l := mustOpen(t, testOptions(filepath.Join(t.TempDir(), "wal")))
	r, err := l.NewReader(1)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	for lsn := LSN(1); lsn < 30; lsn++ {
		if _, err := r.Next(); !errors.Is(err, io.EOF) {
			t.Fatalf("before commit %d: %v", lsn, err)
		}
		mustAppend(t, l, 1)
		f, err := r.Next()
		if err != nil || f.LSN != lsn || f.Durable != lsn-1 || f.Position != l.Last() {
			t.Fatalf("commit %d reads as %v, %v", lsn, f.Position, err)
		}
	}
}

// Readers, a writer and truncations run at once; run it with the race detector.
func TestReadersBesideTheWriter(t *testing.T) {
	const commits = 400
	l := mustOpen(t, testOptions(filepath.Join(t.TempDir(), "wal")))
	var wg sync.WaitGroup
	for range 3 {
		wg.Go(func() {
			r, err := l.NewReader(1)
			for next := LSN(1); next <= commits; {
				var f Frame
				if err == nil {
					f, err = r.Next()
				}
				switch {
				case err == nil && f.LSN == next:
					next++
				case errors.Is(err, io.EOF):
					err = nil
				case errors.Is(err, ErrOutOfRange):
					// A truncation has overtaken this reader: it goes on where the log begins now.
					if r != nil {
						_ = r.Close()
					}
					next = l.First()
					r, err = l.NewReader(next)
				default:
					t.Errorf("commit %d: read %d, %v", next, f.LSN, err)
					return
				}
			}
			_ = r.Close()
		})
	}
	for lsn := LSN(1); lsn <= commits; lsn++ {
		mustAppend(t, l, 1)
		if lsn%50 == 0 {
			if err := l.TruncateFront(lsn - 20); err != nil {
				t.Error(err)
			}
		}
	}
	wg.Wait()
}

// A truncation that overtakes a reader is a clear error, in the middle of a segment too.
func TestTruncationUnderAReader(t *testing.T) {
	l := mustOpen(t, testOptions(newTestLog(t, 30)))
	r, err := l.NewReader(3)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	if _, err := r.Next(); err != nil {
		t.Fatal(err)
	}
	if err := l.TruncateFront(19); err != nil {
		t.Fatal(err)
	}
	if _, err := r.Next(); !errors.Is(err, ErrOutOfRange) {
		t.Fatalf("got %v", err)
	}
}

// What changes under an open log is reported with its place.
func TestReaderMeetsDamage(t *testing.T) {
	for name, edit := range map[string]func([]byte) []byte{
		"flipped": func(b []byte) []byte { b[2*testEntryBytes+90] ^= 1; return b },
		"shorter": func(b []byte) []byte { return b[:2*testEntryBytes] },
	} {
		t.Run(name, func(t *testing.T) {
			dir := newTestLog(t, 5)
			l := mustOpen(t, testOptions(dir))
			editFile(t, segmentFiles(t, dir)[0], edit)
			r, err := l.NewReader(1)
			if err != nil {
				t.Fatal(err)
			}
			defer r.Close()
			for err == nil {
				_, err = r.Next()
			}
			if c := wantCorruption(t, err); name == "flipped" && (c.LSN != 3 || c.Offset != 2*testEntryBytes) {
				t.Fatal(err)
			}
		})
	}
}

func TestDump(t *testing.T) {
	dir := newTestLog(t, 20)
	read := func(from LSN) (lsns []LSN, err error) {
		err = Dump(dir, from, func(f Frame) error {
			lsns = append(lsns, f.LSN)
			return nil
		})
		return lsns, err
	}
	if got, err := read(0); err != nil || len(got) != 20 {
		t.Fatalf("%v, %v", got, err)
	}
	if got, err := read(17); err != nil || len(got) != 4 || got[0] != 17 {
		t.Fatalf("%v, %v", got, err)
	}
	stop := errors.New("stop")
	if err := Dump(dir, 5, func(Frame) error { return stop }); !errors.Is(err, stop) {
		t.Fatalf("got %v", err)
	}
	editFile(t, segmentFiles(t, dir)[1], func(b []byte) []byte { b[90] ^= 1; return b })
	got, err := read(0)
	if wantCorruption(t, err); len(got) != 9 {
		t.Fatalf("%d commits before the damage", len(got))
	}
}
