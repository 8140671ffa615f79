package wal

import (
	"bytes"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/cockroachdb/datadriven"
)

// TestDamage runs the scripts in testdata/damage. Each makes a log, damages its files and opens it:
//
//	new commits=N                        a log whose process was killed; nine commits of 400 bytes fill a segment
//	closed commits=N                     one that was closed, and so has noted its end
//	truncate keep=LSN                    opens it, truncates its front and closes it
//	cut file=K bytes=N                   cuts the last N bytes off the K-th segment
//	add file=K (zeros=N | text=S)        appends
//	zero file=K frame=J [count=N]        zeroes N whole entries from the J-th (from 1) on
//	flip file=K frame=J at=N             flips a bit of byte N of a frame
//	forge file=K frame=J (version=N | lsn=N)  changes a field and makes the checksum right
//	remove (file=K | name=S)
//	rename file=K to=S
//	save name=S, restore name=S          keeps a file as it is, and puts it back
//	create name=S [text=S] [dir]
//	swap file=K with=L                   exchanges two segments' contents
//	verify                               prints the report, or the error
//	open                                 prints the repairs and what the log keeps, or the error
//
// An open that succeeds must read every commit, accept one more, and open again without a repair.
// One that fails must have changed nothing.
func TestDamage(t *testing.T) {
	datadriven.Walk(t, "testdata/damage", func(t *testing.T, path string) {
		var dir string
		datadriven.RunTest(t, path, func(t *testing.T, d *datadriven.TestData) string {
			if d.Cmd == "new" {
				var n int
				d.ScanArgs(t, "commits", &n)
				dir = newTestLog(t, n)
				return listing(t, dir)
			}
			if d.Cmd == "closed" {
				var n int
				d.ScanArgs(t, "commits", &n)
				dir = newClosedLog(t, n)
				return listing(t, dir)
			}
			return strings.ReplaceAll(damageCommand(t, d, dir), dir, "DIR")
		})
	})
}

func damageCommand(t *testing.T, d *datadriven.TestData, dir string) string {
	switch d.Cmd {
	case "open":
		return openDamaged(t, dir)
	case "verify":
		return verifyDamaged(t, dir)
	case "truncate":
		var keep uint64
		d.ScanArgs(t, "keep", &keep)
		l := mustOpen(t, testOptions(dir))
		if err := l.TruncateFront(keep); err != nil {
			return err.Error() + "\n"
		}
		mustClose(t, l)
	case "create":
		var name, text string
		d.ScanArgs(t, "name", &name)
		d.MaybeScanArgs(t, "text", &text)
		if d.HasArg("dir") {
			return fmtError(os.Mkdir(filepath.Join(dir, name), dirMode))
		}
		writeFile(t, filepath.Join(dir, name), []byte(text))
	case "remove":
		var name string
		if d.MaybeScanArgs(t, "name", &name); name == "" {
			name = filepath.Base(fileArg(t, d, dir, "file"))
		}
		return fmtError(os.Remove(filepath.Join(dir, name)))
	case "rename":
		var to string
		d.ScanArgs(t, "to", &to)
		return fmtError(os.Rename(fileArg(t, d, dir, "file"), filepath.Join(dir, to)))
	case "save", "restore":
		var name string
		d.ScanArgs(t, "name", &name)
		from, to := filepath.Join(dir, name), filepath.Join(filepath.Dir(dir), name)
		if d.Cmd == "restore" {
			from, to = to, from
		}
		b, err := os.ReadFile(from)
		if err == nil {
			writeFile(t, to, b)
		}
		return fmtError(err)
	case "swap":
		a, b := fileArg(t, d, dir, "file"), fileArg(t, d, dir, "with")
		return fmtError(errors.Join(os.Rename(a, a+"x"), os.Rename(b, a), os.Rename(a+"x", b)))
	default:
		editFile(t, fileArg(t, d, dir, "file"), func(b []byte) []byte { return damageBytes(t, d, b) })
	}
	return listing(t, dir)
}

// damageBytes applies a command that changes one segment.
func damageBytes(t *testing.T, d *datadriven.TestData, b []byte) []byte {
	number := func(name string) (n int) {
		d.MaybeScanArgs(t, name, &n)
		return n
	}
	at := (number("frame") - 1) * testEntryBytes
	switch d.Cmd {
	case "cut":
		return b[:len(b)-number("bytes")]
	case "add":
		var text string
		d.MaybeScanArgs(t, "text", &text)
		return append(append(b, text...), make([]byte, number("zeros"))...)
	case "zero":
		clear(b[at:][:testEntryBytes*max(1, number("count"))])
	case "flip":
		b[at+2+number("at")] ^= 0x10
	case "forge":
		frame := b[at+2:][:testEntryBytes-2]
		h, _ := parseHeader(frame)
		if d.HasArg("version") {
			h.version = uint8(number("version"))
		} else {
			h.lsn = LSN(number("lsn"))
		}
		copy(frame, appendFrame(nil, h, bytes.Clone(frame[headerBytes:])))
	default:
		d.Fatalf(t, "unknown command %s", d.Cmd)
	}
	return b
}

func fileArg(t *testing.T, d *datadriven.TestData, dir, arg string) string {
	var k int
	d.ScanArgs(t, arg, &k)
	return segmentFiles(t, dir)[k-1]
}

func fmtError(err error) string {
	if err != nil {
		return err.Error() + "\n"
	}
	return "ok\n"
}

func listing(t *testing.T, dir string) string {
	var out strings.Builder
	files := contents(t, dir)
	for _, name := range sortedNames(files) {
		fmt.Fprintf(&out, "%s %d\n", name, len(files[name]))
	}
	return out.String()
}

func openDamaged(t *testing.T, dir string) string {
	var out bytes.Buffer
	opts := testOptions(dir)
	opts.Logger = scriptLogger(&out)
	before := contents(t, dir)
	l, err := Open(opts)
	if err != nil {
		if !maps.Equal(before, contents(t, dir)) {
			t.Fatal("a failed Open has changed the directory")
		}
		return fmt.Sprintf("error: %v\n", err)
	}
	first, last := l.First(), l.Last().LSN
	fmt.Fprintf(&out, "ok: keeps %d to %d\n", first, last)
	checkFrames(t, l, first, last)
	mustAppend(t, l, 1)
	mustClose(t, l)
	repairs := out.Len()
	l = mustOpen(t, opts)
	checkFrames(t, l, first, last+1)
	mustClose(t, l)
	return out.String() + strings.Repeat("repaired again\n", min(1, out.Len()-repairs))
}

func verifyDamaged(t *testing.T, dir string) string {
	before := contents(t, dir)
	r, err := Verify(dir)
	if !maps.Equal(before, contents(t, dir)) {
		t.Fatal("Verify has changed the directory")
	}
	var out strings.Builder
	fmt.Fprintf(&out, "base=%d last=%d segments=%d frames=%d bytes=%d torn=%d listed=%d watermark=%d litter=%v\n",
		r.Base.LSN, r.Last.LSN, r.Segments, r.Frames, r.Bytes, r.TornBytes, r.Listed, r.Watermark.LSN, r.Litter)
	if err != nil {
		fmt.Fprintf(&out, "error: %v\n", err)
	}
	return out.String()
}

// scriptLogger writes lines without what changes from run to run.
func scriptLogger(out *bytes.Buffer) *slog.Logger {
	return slog.New(slog.NewTextHandler(out, &slog.HandlerOptions{
		ReplaceAttr: func(_ []string, a slog.Attr) slog.Attr {
			if a.Key == slog.TimeKey || a.Key == "dir" {
				return slog.Attr{}
			}
			return a
		},
	}))
}
