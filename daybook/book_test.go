package daybook

import (
	"bytes"
	"errors"
	"flag"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"testing"
	"time"
)

var rewrite = flag.Bool("rewrite", false, "write the golden file again")

var begin = time.Date(2026, 11, 26, 3, 0, 0, 0, time.UTC)

// minuteAt returns the i-th minute after begin, with figures of its own.
func minuteAt(i int) Minute {
	return Minute{
		At: begin.Add(time.Duration(i) * time.Minute), Fired: uint64(i + 1), Launched: uint64(2 * i),
		P50: time.Duration(i) * time.Microsecond, P99: time.Duration(i) * time.Millisecond, Max: time.Duration(i) * time.Second,
	}
}

// open opens a book that is closed when the test ends.
func open(t *testing.T, path string) *Book {
	t.Helper()
	b, err := Open(path)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = b.Close() })
	return b
}

func put(t *testing.T, b *Book, minutes ...Minute) {
	t.Helper()
	for _, m := range minutes {
		if err := b.Put(m); err != nil {
			t.Fatal(err)
		}
	}
}

// TestRestart: what was put before a restart is there after it, also if the book was not closed. The newest day remains.
func TestRestart(t *testing.T) {
	path := filepath.Join(t.TempDir(), "DAYBOOK")
	b := open(t, path)
	for i := range Minutes + 100 {
		put(t, b, minuteAt(i))
	}
	for name, book := range map[string]*Book{"open": b, "opened again": open(t, path)} {
		got := book.Since(begin, begin.Add((Minutes+99)*time.Minute))
		if len(got) != Minutes || got[0] != minuteAt(100) || got[Minutes-1] != minuteAt(Minutes+99) {
			t.Errorf("%s: %d minutes, from %+v to %+v", name, len(got), got[0], got[len(got)-1])
		}
	}
	if info, err := os.Stat(path); err != nil || info.Size() != headerBytes+Minutes*recordBytes {
		t.Errorf("the file is %+v, %v", info, err)
	}
}

// TestSince returns no minute that is older than a day or outside the range, though the ring still has it.
func TestSince(t *testing.T) {
	b := open(t, filepath.Join(t.TempDir(), "DAYBOOK"))
	put(t, b, minuteAt(0), minuteAt(5), minuteAt(9))
	for _, c := range []struct {
		from, now int
		want      []Minute
	}{
		{0, 9, []Minute{minuteAt(0), minuteAt(5), minuteAt(9)}}, {1, 8, []Minute{minuteAt(5)}}, {6, 8, nil},
		{0, Minutes + 4, []Minute{minuteAt(5), minuteAt(9)}}, {0, 2 * Minutes, nil},
	} {
		if got := b.Since(begin.Add(time.Duration(c.from)*time.Minute), begin.Add(time.Duration(c.now)*time.Minute+59*time.Second)); !slices.Equal(got, c.want) {
			t.Errorf("from %d at %d: %+v, want %+v", c.from, c.now, got, c.want)
		}
	}
}

// TestPartsAreJoined: a restart within a minute leaves two parts of it, and neither is lost.
func TestPartsAreJoined(t *testing.T) {
	path := filepath.Join(t.TempDir(), "DAYBOOK")
	put(t, open(t, path), Minute{At: begin, Fired: 3, Launched: 4, P50: 5, P99: 90, Max: 100})
	b := open(t, path)
	put(t, b, Minute{At: begin.Add(40 * time.Second), Fired: 10, Launched: 20, P50: 6, P99: 7, Max: 8})
	want := []Minute{{At: begin, Fired: 13, Launched: 24, P50: 6, P99: 90, Max: 100}}
	if got := b.Since(begin, begin); !slices.Equal(got, want) {
		t.Errorf("the minute is %+v, want %+v", got, want)
	}
}

// TestDamage changes each byte of a file with one minute: no minute is ever made up, and a record beside the change stays.
func TestDamage(t *testing.T) {
	path := filepath.Join(t.TempDir(), "DAYBOOK")
	first, second := minuteAt(0), minuteAt(1)
	put(t, open(t, path), first, second)
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	from := headerBytes + slot(number(first.At))*recordBytes
	for i := range recordBytes {
		broken := slices.Clone(text)
		broken[from+i] ^= 0x10
		if err := os.WriteFile(path, broken, 0o600); err != nil {
			t.Fatal(err)
		}
		if got := open(t, path).Since(begin, second.At); !slices.Equal(got, []Minute{second}) {
			t.Errorf("with byte %d of the record changed: %+v", i, got)
		}
	}
	moved := slices.Clone(text)
	copy(moved[headerBytes:], text[from:from+recordBytes])
	for name, c := range map[string]struct {
		text []byte
		want []Minute
	}{
		"cut within the records": {text[:from+recordBytes], []Minute{first}}, "cut within a record": {text[:from+10], nil}, "empty": {nil, nil},
		"another file": {bytes.Repeat([]byte("x"), len(text)), nil}, "a record at two places": {moved, []Minute{first, second}},
	} {
		if err := os.WriteFile(path, c.text, 0o600); err != nil {
			t.Fatal(err)
		}
		b := open(t, path)
		if got := b.Since(begin, second.At); !slices.Equal(got, c.want) {
			t.Errorf("%s: %+v, want %+v", name, got, c.want)
		}
		put(t, b, minuteAt(7))
		if got := open(t, path).Since(minuteAt(7).At, minuteAt(7).At); len(got) != 1 {
			t.Errorf("%s: a minute that was put afterwards is lost", name)
		}
	}
}

// TestLaterVersion: the file of a later format is refused by name, and not changed.
func TestLaterVersion(t *testing.T) {
	path := filepath.Join(t.TempDir(), "DAYBOOK")
	header := make([]byte, headerBytes)
	copy(header, magic)
	header[8] = version + 1
	seal(header)
	if err := os.WriteFile(path, header, 0o600); err != nil {
		t.Fatal(err)
	}
	_, err := Open(path)
	var later *VersionError
	if !errors.As(err, &later) || later.Version != version+1 {
		t.Errorf("a later version: %v", err)
	}
	if text, err := os.ReadFile(path); err != nil || !bytes.Equal(text, header) {
		t.Errorf("the file was changed: %v", err)
	}
}

// TestGolden reads a file that the first release with this format wrote.
func TestGolden(t *testing.T) {
	golden, path := filepath.Join("testdata", "v1.daybook"), filepath.Join(t.TempDir(), "DAYBOOK")
	want := []Minute{minuteAt(0), minuteAt(59), minuteAt(61)}
	put(t, open(t, path), want...)
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if *rewrite {
		if err := os.WriteFile(golden, text, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	kept, err := os.ReadFile(golden)
	if err != nil || !bytes.Equal(kept, text) {
		t.Errorf("%s differs from what this version writes: %v", golden, err)
	}
}

// TestConcurrentUse puts and reads at a time.
func TestConcurrentUse(t *testing.T) {
	b := open(t, filepath.Join(t.TempDir(), "DAYBOOK"))
	var group sync.WaitGroup
	for i := range 4 {
		group.Go(func() {
			for n := range 100 {
				_ = b.Put(minuteAt(100*i + n))
				_ = b.Since(begin, minuteAt(400).At)
			}
		})
	}
	group.Wait()
	if got := b.Since(begin, minuteAt(400).At); len(got) != 400 {
		t.Errorf("%d minutes, want 400", len(got))
	}
}

// FuzzDecode: no bytes make it panic, and what it accepts is what the encoder writes.
func FuzzDecode(f *testing.F) {
	f.Add(encode(minuteAt(3)), slot(number(minuteAt(3).At)))
	f.Add(make([]byte, recordBytes), 0)
	f.Fuzz(func(t *testing.T, b []byte, place int) {
		if len(b) != recordBytes {
			return
		}
		m, ok := decode(b, place)
		if ok && slot(number(m.At)) != place {
			t.Errorf("%+v was accepted at the place %d", m, place)
		}
	})
}
