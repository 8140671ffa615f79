package backup

import (
	"bytes"
	"errors"
	"flag"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/iotest"
	"time"

	"github.com/carillon-io/carillon/job"
)

var rewrite = flag.Bool("rewrite", false, "write the golden file anew")

var testHeader = Header{
	Position:  job.Position{LSN: 4711, Epoch: 3, Hash: [16]byte{1, 2, 3, 15: 0xff}},
	ClusterID: [16]byte{0: 0xc1, 15: 0x1d}, Shard: 7,
	CreatedAt: time.UnixMilli(1_764_576_000_123).UTC(), Product: "1.2.3",
}

type testFile struct{ name, content string }

var testFiles = []testFile{{"FORMAT", "carillon store 1"}, {"000007.sst", "\x00\xff rows"}, {"empty.log", ""}, {"dir/deep", "x"}}

// write makes a backup of these files.
func write(t testing.TB, files []testFile) []byte {
	t.Helper()
	h := testHeader
	h.Files = len(files)
	for _, f := range files {
		h.Bytes += int64(len(f.content))
	}
	var out bytes.Buffer
	w, err := NewWriter(&out, h)
	for _, f := range files {
		err = errors.Join(err, w.File(File{f.name, int64(len(f.content))}))
		_, e := io.Copy(w, iotest.HalfReader(strings.NewReader(f.content)))
		err = errors.Join(err, e)
	}
	if err = errors.Join(err, w.Close()); err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}

// read returns the files of a backup that is whole.
func read(r io.Reader) (h Header, files []testFile, err error) {
	b, err := NewReader(r)
	if err != nil {
		return h, nil, err
	}
	for {
		f, err := b.Next()
		if errors.Is(err, io.EOF) {
			return b.Header(), files, nil
		}
		if err != nil {
			return h, files, err
		}
		content, err := io.ReadAll(b)
		if err != nil {
			return h, files, err
		}
		files = append(files, testFile{f.Name, string(content)})
	}
}

// TestRoundTrip: what was written is read, in pieces of any size, and so is a file of several pieces.
func TestRoundTrip(t *testing.T) {
	large := append([]testFile{{"large", strings.Repeat("carillon", PieceBytes/8*2+1)}}, testFiles...)
	for _, files := range [][]testFile{nil, testFiles, large} {
		b := write(t, files)
		h, got, err := read(iotest.HalfReader(bytes.NewReader(b)))
		if err != nil || len(got) != len(files) {
			t.Fatalf("%d files, %v; want %d", len(got), err, len(files))
		}
		for i := range files {
			if got[i] != files[i] {
				t.Errorf("file %d: %q of %d bytes", i, got[i].name, len(got[i].content))
			}
		}
		if h.Position != testHeader.Position || h.ClusterID != testHeader.ClusterID || h.Shard != 7 ||
			!h.CreatedAt.Equal(testHeader.CreatedAt) || h.Product != "1.2.3" || h.Files != len(files) {
			t.Errorf("header %+v", h)
		}
		last := int64(-1)
		if _, err := Verify(bytes.NewReader(b), func(n int64) { last = n }); err != nil || last != h.Bytes {
			t.Errorf("verified %d bytes of %d, %v", last, h.Bytes, err)
		}
	}
}

// TestGolden: the formats stay as they are.
func TestGolden(t *testing.T) {
	part := testHeader
	part.Shards = 16
	for name, b := range map[string][]byte{"v1.backup": write(t, testFiles), "v2.backup": writeHeader(t, part)} {
		path := filepath.Join("testdata", name)
		if *rewrite {
			if err := os.WriteFile(path, b, 0o640); err != nil {
				t.Fatal(err)
			}
		}
		want, err := os.ReadFile(path)
		if err != nil || !bytes.Equal(b, want) {
			t.Errorf("the bytes of %s have changed: %v", name, err)
		}
	}
}

// TestEachByteCounts: no backup with any bit of any byte changed is taken for a whole one, and none that
// ends at any other place.
func TestEachByteCounts(t *testing.T) {
	whole := write(t, testFiles)
	for i := range whole {
		for bit := range 8 {
			b := bytes.Clone(whole)
			b[i] ^= 1 << bit
			_, err := Verify(bytes.NewReader(b), nil)
			damage := (*DamagedError)(nil)
			if !errors.As(err, &damage) && !errors.Is(err, ErrNotBackup) && !errors.Is(err, ErrVersion) && !errors.Is(err, ErrTruncated) {
				t.Fatalf("bit %d of byte %d changed: %v", bit, i, err)
			}
		}
		_, err := Verify(bytes.NewReader(whole[:i]), nil)
		if want := ErrTruncated; i >= len(magic) && !errors.Is(err, want) || i < len(magic) && !errors.Is(err, ErrNotBackup) {
			t.Fatalf("cut off after %d bytes: %v", i, err)
		}
	}
	damage := (*DamagedError)(nil)
	if _, err := Verify(bytes.NewReader(append(bytes.Clone(whole), 0)), nil); !errors.As(err, &damage) {
		t.Errorf("a byte more: %v", err)
	}
}

// TestTwoBackupsMixed: records of two backups, each of which is whole, make none.
func TestTwoBackupsMixed(t *testing.T) {
	one, two := write(t, []testFile{{"a", "1"}, {"b", "1"}}), write(t, []testFile{{"a", "2"}, {"b", "2"}})
	half := len(one) / 2
	for cut := half - 30; cut < half+30; cut++ {
		damage := (*DamagedError)(nil)
		mixed := append(bytes.Clone(one[:cut]), two[cut:]...)
		if bytes.Equal(mixed, one) || bytes.Equal(mixed, two) {
			continue
		}
		if _, err := Verify(bytes.NewReader(mixed), nil); !errors.As(err, &damage) {
			t.Fatalf("cut at %d: %v", cut, err)
		}
	}
}

// TestReadErrors: what the source says is passed on, and not taken for the backup's fault.
func TestReadErrors(t *testing.T) {
	whole := write(t, testFiles)
	broken := errors.New("the disk is gone")
	for i := range whole {
		r := io.MultiReader(bytes.NewReader(whole[:i]), iotest.ErrReader(broken))
		if _, err := Verify(r, nil); !errors.Is(err, broken) {
			t.Fatalf("after %d bytes: %v", i, err)
		}
	}
}

// TestWriterRefuses what would be no backup.
func TestWriterRefuses(t *testing.T) {
	one := Header{Files: 1, Bytes: 3}
	for name, do := range map[string]func(w *Writer) error{
		"a file that is missing":  func(w *Writer) error { return w.Close() },
		"a file that is cut":      func(w *Writer) error { return errors.Join(w.File(File{"a", 3}), w.Close()) },
		"a file too many":         func(w *Writer) error { return errors.Join(w.File(File{"a", 0}), w.File(File{"b", 0})) },
		"a file that is too long": func(w *Writer) error { return w.File(File{"a", 4}) },
		"more than the file has":  func(w *Writer) error { _ = w.File(File{"a", 3}); _, err := w.Write(make([]byte, 4)); return err },
		"a file from elsewhere":   func(w *Writer) error { return w.File(File{"../a", 3}) },
		"a file without a name":   func(w *Writer) error { return w.File(File{"", 3}) },
	} {
		w, err := NewWriter(io.Discard, one)
		if err != nil {
			t.Fatal(err)
		}
		if err := do(w); err == nil {
			t.Errorf("%s is written", name)
		} else if w.Close() == nil {
			t.Errorf("%s is forgotten by Close", name)
		}
	}
}

// FuzzReader: no bytes make the reader panic, hand out more than it says, or take a name that leads out
// of a directory.
func FuzzReader(f *testing.F) {
	whole := write(f, testFiles)
	f.Add(whole)
	f.Add(whole[:100])
	f.Add([]byte(magic))
	f.Fuzz(func(t *testing.T, b []byte) {
		h, files, err := read(bytes.NewReader(b))
		size := int64(0)
		for _, file := range files {
			size += int64(len(file.content))
			if !filepath.IsLocal(file.name) {
				t.Fatalf("the name %q leads elsewhere", file.name)
			}
		}
		if err == nil && (size != h.Bytes || len(files) != h.Files) {
			t.Fatalf("%d files of %d bytes, and the header says %d of %d", len(files), size, h.Files, h.Bytes)
		}
	})
}
