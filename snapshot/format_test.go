package snapshot

import (
	"encoding/hex"
	"errors"
	"log/slog"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/cockroachdb/pebble/v2"

	"github.com/carillon-io/carillon/job"
)

// silent is for Pebble used behind the store's back.
var silent = quiet{newFault(slog.New(slog.DiscardHandler))}

// TestGoldenFormat pins the bytes of store version 1.
func TestGoldenFormat(t *testing.T) {
	at := job.Position{LSN: 0x0102030405060708, Epoch: 9, Hash: [16]byte{0xa0, 15: 0xaf}}
	const want = "01" + "0102030405060708" + "0000000000000009" + "a00000000000000000000000000000af" + "7cd5bad9"
	if got := hex.EncodeToString(appendHead(nil, at)); got != want {
		t.Errorf("the head row is %s, want %s", got, want)
	}
	if got := hex.EncodeToString(headKey); got != "0068656164" {
		t.Errorf("its key is %s", got)
	}
	dir := newTestStore(t)
	b, err := os.ReadFile(filepath.Join(dir, formatName))
	if err != nil || string(b) != "carillon store 1, pebble format 24\n" {
		t.Errorf("FORMAT is %q, %v", b, err)
	}
}

// newTestStore returns the directory of a closed store with one commit.
func newTestStore(t *testing.T) string {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "store")
	s := mustOpen(t, Options{Dir: dir})
	mustApply(t, s, 1, timerBatch(1))
	mustClose(t, s)
	return dir
}

func TestDamagedHead(t *testing.T) {
	b := appendHead(nil, position(3))
	if at, err := decodeHead(b); err != nil || at != position(3) {
		t.Errorf("%v, %v", at, err)
	}
	for i := range b {
		b[i] ^= 1
		if _, err := decodeHead(b); err == nil || errors.Is(err, ErrVersion) != (i == 0) {
			t.Errorf("byte %d flipped: %v", i, err)
		}
		b[i] ^= 1
		if _, err := decodeHead(b[:i]); err == nil {
			t.Errorf("cut to %d bytes, and it was read", i)
		}
	}
}

// TestOpenRefuses: a directory that is not a store of ours is refused by name, and stays as it is.
func TestOpenRefuses(t *testing.T) {
	for name, c := range map[string]struct {
		make func(t *testing.T, dir string)
		want error
		text string
	}{
		"foreign file": {func(t *testing.T, dir string) { write(t, dir, "notes.txt", "x") }, ErrForeign, "notes.txt"},
		"foreign pebble": {func(t *testing.T, dir string) {
			db, err := pebble.Open(dir, &pebble.Options{Logger: silent})
			if err == nil {
				err = errors.Join(db.Set([]byte("k"), []byte("v"), pebble.Sync), db.Close())
			}
			if err != nil {
				t.Fatal(err)
			}
		}, ErrForeign, formatName},
		"foreign FORMAT": {func(t *testing.T, dir string) { write(t, dir, formatName, "A4 landscape\n") }, ErrForeign, "A4 landscape"},
		"newer store": {func(t *testing.T, dir string) {
			write(t, dir, formatName, "carillon store 2, pebble format 30\n")
		}, ErrVersion, "version 2 with pebble format 30"},
		"older pebble": {func(t *testing.T, dir string) {
			write(t, dir, formatName, "carillon store 1, pebble format 19\n")
		}, ErrVersion, "pebble format 19"},
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			c.make(t, dir)
			before := list(t, dir)
			_, err := Open(Options{Dir: dir})
			if !errors.Is(err, c.want) || !strings.Contains(err.Error(), c.text) || !strings.Contains(err.Error(), dir) {
				t.Errorf("got %v", err)
			}
			after := list(t, dir)
			delete(after, "LOCK") // of a store of another version
			delete(before, "LOCK")
			if !maps.Equal(before, after) {
				t.Errorf("the directory had %v and has %v", before, after)
			}
		})
	}
}

func write(t *testing.T, dir, name, text string) {
	t.Helper()
	if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

// list returns the names and sizes of the files in dir.
func list(t *testing.T, dir string) map[string]int64 {
	t.Helper()
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	files := map[string]int64{}
	for _, e := range entries {
		info, err := e.Info()
		if err != nil {
			t.Fatal(err)
		}
		files[e.Name()] = info.Size()
	}
	return files
}

// TestHeadRefuses edits the head row behind the store's back.
func TestHeadRefuses(t *testing.T) {
	damaged := appendHead(nil, position(1))
	damaged[5]++
	for name, c := range map[string]struct {
		edit func(db *pebble.DB) error
		text string
	}{
		"newer":   {func(db *pebble.DB) error { return db.Set(headKey, []byte{headVersion + 1, 0}, pebble.Sync) }, "version 2"},
		"damaged": {func(db *pebble.DB) error { return db.Set(headKey, damaged, pebble.Sync) }, "checksum"},
		"missing": {func(db *pebble.DB) error { return db.Delete(headKey, pebble.Sync) }, "no head row"},
	} {
		t.Run(name, func(t *testing.T) {
			dir := newTestStore(t)
			db, err := pebble.Open(dir, &pebble.Options{FormatMajorVersion: pebbleFormat, Logger: silent})
			if err == nil {
				err = errors.Join(c.edit(db), db.Flush(), db.Close())
			}
			if err != nil {
				t.Fatal(err)
			}
			_, err = Open(Options{Dir: dir})
			if err == nil || !strings.Contains(err.Error(), c.text) || errors.Is(err, ErrVersion) != (name == "newer") {
				t.Errorf("got %v", err)
			}
			if _, again := Open(Options{Dir: dir}); again == nil || again.Error() != err.Error() {
				t.Errorf("the second time: %v", again) // in use, if the first Open has kept the lock
			}
		})
	}
}

// TestInUse opens a store that this process has open, and one that another has.
func TestInUse(t *testing.T) {
	const env = "SNAPSHOT_TEST_IN_USE"
	if dir := os.Getenv(env); dir != "" {
		if _, err := Open(Options{Dir: dir}); !errors.Is(err, ErrInUse) {
			t.Fatalf("in another process: %v", err)
		}
		return
	}
	dir := newTestStore(t)
	s := mustOpen(t, Options{Dir: dir})
	if _, err := Open(Options{Dir: dir}); !errors.Is(err, ErrInUse) || !strings.Contains(err.Error(), dir) {
		t.Errorf("in this process: %v", err)
	}
	cmd := exec.Command(os.Args[0], "-test.run=^TestInUse$", "-test.v")
	cmd.Env = append(os.Environ(), env+"="+dir)
	if out, err := cmd.CombinedOutput(); err != nil || !strings.Contains(string(out), "PASS") {
		t.Errorf("the other process: %v\n%s", err, out)
	}
	mustApply(t, s, 2, timerBatch(2))
	mustClose(t, s)
	mustClose(t, mustOpen(t, Options{Dir: dir}))
}

func TestOptions(t *testing.T) {
	for _, o := range []Options{
		{}, {Dir: "x", CacheBytes: -1},
		{Dir: "x", MemTableBytes: -1}, {Dir: "x", MemTableBytes: MemTableBytesMin - 1}, {Dir: "x", MemTableBytes: MemTableBytesMax + 1},
	} {
		if _, err := Open(o); err == nil {
			t.Errorf("%+v was taken", o)
		}
	}
	names, err := filepath.Glob("x*")
	if err != nil || slices.Contains(names, "x") {
		t.Errorf("refused options have left %v, %v", names, err)
	}
}
