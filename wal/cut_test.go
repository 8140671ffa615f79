package wal

import (
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/carillon-io/carillon/testkit"
)

// savedFrames reads a saved file and checks that it holds the commits of newTestLog from first to last.
func savedFrames(t testing.TB, path string, first, last LSN) {
	t.Helper()
	next := first
	err := DumpFile(path, func(f Frame) error {
		if f.LSN != next || string(f.Payload) != string(testPayload(next, testPayloadBytes)) {
			return fmt.Errorf("commit %d reads as LSN %d with payload %.20q", next, f.LSN, f.Payload)
		}
		next++
		return nil
	})
	if err != nil || next != last+1 {
		t.Fatalf("the saved file: %v, read up to LSN %d, want %d to %d", err, next-1, first, last)
	}
}

// newTestLogFrom returns the files of a log with the commits up to last, its front truncated to from.
func newTestLogFrom(t *testing.T, from, last LSN) map[string]string {
	t.Helper()
	l := mustOpen(t, testOptions(newTestLog(t, int(last))))
	if err := l.TruncateFront(from); err != nil {
		t.Fatal(err)
	}
	mustClose(t, l)
	return contents(t, l.opts.Dir)
}

// savedName is where the tests below put what they cut off the log in dir.
func savedName(dir string) string { return filepath.Join(filepath.Dir(dir), "diverged.frames") }

// TestCutTail cuts logs at every LSN, in the middle and at the borders of segments, and goes on with
// another history. What was cut is in the file, byte for byte.
func TestCutTail(t *testing.T) {
	testkit.NotUnderRace(t, oneAtATime)
	for _, log := range []struct{ first, last LSN }{{1, 34}, {10, 34}, {1, 3 * testSegmentLSNs}, {28, 3 * testSegmentLSNs}} {
		files := newTestLogFrom(t, log.first, log.last)
		for keep := log.first - 1; keep <= log.last+1; keep++ {
			opts := testOptions(writeContents(t, files))
			opts.disk = idleDisk{}
			cut, err := CutTail(opts, keep, savedName(opts.Dir))
			if err != nil || cut != int(log.last)-int(min(keep, log.last)) {
				t.Fatalf("%+v cut after %d: %d commits, %v", log, keep, cut, err)
			}
			if cut > 0 {
				savedFrames(t, savedName(opts.Dir), keep+1, log.last)
			} else if _, err := os.Stat(savedName(opts.Dir)); !errors.Is(err, fs.ErrNotExist) {
				t.Fatalf("%+v cut after %d: there is a file, %v", log, keep, err)
			}
			goOn(t, opts, log.first, min(keep, log.last))
		}
	}
}

// goOn checks that a log keeps first to last, appends commits of another epoch and size, and opens it
// again.
func goOn(t *testing.T, opts Options, first, last LSN) {
	t.Helper()
	l := mustOpen(t, opts)
	checkFrames(t, l, first, last)
	for range testSegmentLSNs + 2 {
		lsn := l.Last().LSN + 1
		if at, err := l.Append(7, testPayload(lsn, 300)); err != nil || at.LSN != lsn || at.Epoch != 7 {
			t.Fatalf("%v, %v", at, err)
		}
	}
	mustClose(t, l)
	l = mustOpen(t, opts)
	checkFrames(t, l, first, last+testSegmentLSNs+2)
	mustClose(t, l)
}

func TestCutTailRefuses(t *testing.T) {
	files := newTestLogFrom(t, 10, 34)
	opts := testOptions(writeContents(t, files))
	taken := filepath.Join(filepath.Dir(opts.Dir), "taken")
	writeFile(t, taken, []byte("an older tail"))
	for _, c := range []struct {
		keep   LSN
		saveAs string
		want   error
	}{
		{8, savedName(opts.Dir), ErrOutOfRange},
		{0, savedName(opts.Dir), ErrOutOfRange},
		{20, taken, fs.ErrExist},
		{20, filepath.Join(opts.Dir, "tail.frames"), nil},
		{20, filepath.Join(opts.Dir, "none", "tail.frames"), fs.ErrNotExist},
	} {
		if cut, err := CutTail(opts, c.keep, c.saveAs); err == nil || c.want != nil && !errors.Is(err, c.want) || cut != 0 {
			t.Errorf("keep %d, save as %s: %d, %v", c.keep, c.saveAs, cut, err)
		}
		if !maps.Equal(contents(t, opts.Dir), files) {
			t.Fatalf("keep %d, save as %s: the log has changed", c.keep, c.saveAs)
		}
	}
	l := mustOpen(t, opts)
	if _, err := CutTail(opts, 20, savedName(opts.Dir)); !errors.Is(err, ErrLocked) {
		t.Errorf("an open log: %v", err)
	}
	mustClose(t, l)
	editFile(t, segmentFiles(t, opts.Dir)[0], func(b []byte) []byte { b[100] ^= 1; return b })
	_, err := CutTail(opts, 30, savedName(opts.Dir))
	wantCorruption(t, err)
	if _, err := os.Stat(savedName(opts.Dir)); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("a refused cut left a file: %v", err)
	}
}

// TestCutOrder pins what the crash argument of a cut rests on: the file is durable before the cut is
// declared, and all that is cut is gone, durably, before the declaration is.
func TestCutOrder(t *testing.T) {
	var ops []string
	opts := testOptions(newClosedLog(t, 34))
	opts.disk = &stepDisk{before: func(op string) error { ops = append(ops, op); return nil }}
	if _, err := CutTail(opts, 12, savedName(opts.Dir)); err != nil {
		t.Fatal(err)
	}
	tail, parent := segmentName(28), "syncdir "+filepath.Base(filepath.Dir(opts.Dir))
	want := []string{
		"create " + tail + ".TEMP", "rename " + tail, "syncdir wal", // as Open does
		"create diverged.frames.TEMP", "rename diverged.frames", parent,
		"create CUT.TEMP", "rename CUT", "syncdir wal",
		"remove " + segmentName(19), "remove " + tail,
		"create " + segmentName(10) + ".TEMP", "rename " + segmentName(10), "syncdir wal",
		"create SEGMENTS.TEMP", "rename SEGMENTS", "syncdir wal",
		"remove CUT", "syncdir wal",
	}
	if !slices.Equal(ops, want) {
		t.Fatalf("a cut took\n%v, want\n%v", ops, want)
	}
}

// TestCutMark damages the mark of an unfinished cut: nothing is guessed.
func TestCutMark(t *testing.T) {
	files := newTestLogFrom(t, 1, 34)
	unfinished := testOptions(writeContents(t, files))
	unfinished.disk = &stepDisk{before: func(op string) error {
		if op == "remove "+segmentName(19) {
			return errInjected
		}
		return nil
	}}
	if _, err := CutTail(unfinished, 12, savedName(unfinished.Dir)); !errors.Is(err, errInjected) {
		t.Fatal(err)
	}
	files = contents(t, unfinished.Dir)
	mark := []byte(files[cutName])
	other, err := readBase(writeContents(t, newTestLogFrom(t, 1, 1)), baseName, baseMagic)
	if err != nil {
		t.Fatal(err)
	}
	for name, spoil := range map[string]func(b []byte) []byte{
		"flipped":     func(b []byte) []byte { b[20] ^= 1; return b },
		"short":       func(b []byte) []byte { return b[:40] },
		"empty":       func([]byte) []byte { return nil },
		"other log":   func([]byte) []byte { return other.encodeAs(cutMagic) },
		"other place": func(b []byte) []byte { return respell(t, b, func(m *base) { m.before.Hash[3]++ }) },
		"beyond":      func(b []byte) []byte { return respell(t, b, func(m *base) { m.before.LSN = 100 }) },
		"other magic": func(b []byte) []byte { copy(b, baseMagic); return b },
	} {
		files[cutName] = string(spoil(slices.Clone(mark)))
		dir := writeContents(t, files)
		_, openErr := Open(testOptions(dir))
		wantCorruption(t, openErr)
		if _, err := Verify(dir); err == nil || !maps.Equal(contents(t, dir), files) {
			t.Errorf("%s: verified with %v, or something has changed", name, err)
		}
	}
	_, err = Open(testOptions(writeContents(t, map[string]string{cutName: string(mark), segmentName(1): ""})))
	wantCorruption(t, err)
	files[cutName] = string(mark)
	opts := testOptions(writeContents(t, files))
	if r, err := Verify(opts.Dir); err != nil || r.Last.LSN != 12 || r.Frames != 12 || !slices.Contains(r.Litter, cutName) {
		t.Errorf("verify: %+v, %v", r, err)
	}
	goOn(t, opts, 1, 12)
}

// respell changes a mark and makes its checksum right.
func respell(t *testing.T, raw []byte, change func(*base)) []byte {
	t.Helper()
	m, err := decodeBase(cutName, cutMagic, raw)
	if err != nil {
		t.Fatal(err)
	}
	change(&m)
	return m.encodeAs(cutMagic)
}
