package wal

import (
	"errors"
	"maps"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// killedBeside returns the files of a log of n commits that no mark has noted, and the positions of all of
// them: a store beside it may be at any.
func killedBeside(t *testing.T, n int) (files map[string]string, at []Position) {
	t.Helper()
	opts := testOptions(filepath.Join(t.TempDir(), "wal"))
	l := mustOpen(t, opts)
	at = append(at, l.Last())
	for range n {
		mustAppend(t, l, 1)
		at = append(at, l.Last())
	}
	mustKill(t, l)
	return contents(t, opts.Dir), at
}

// TestStoreSaysHowFarTheLogReaches: what a store has applied was durable, so a log that ends before it is
// damaged, whatever its tail looks like and whatever the watermark says. Nothing of it is changed.
func TestStoreSaysHowFarTheLogReaches(t *testing.T) {
	files, at := killedBeside(t, 12)
	name := segmentName(10) // of the commits 10 to 12
	for what, tc := range map[string]struct {
		spoil func(string) string
		ends  LSN // of what is whole
	}{
		"a bit of the last commit": {func(b string) string { return b[:len(b)-9] + "~" + b[len(b)-8:] }, 11},
		"half":                     {func(b string) string { return b[:len(b)/2] }, 10},
		"a whole commit":           {func(b string) string { return b[:len(b)-testEntryBytes] }, 11},
		"emptied":                  {func(string) string { return "" }, 9},
	} {
		t.Run(what, func(t *testing.T) {
			hit := maps.Clone(files)
			hit[name] = tc.spoil(files[name])
			hit[baseName+tempSuffix] = "left over"
			opts := testOptions(writeContents(t, hit))
			for _, applied := range at[tc.ends+1:] {
				opts.Applied = &applied
				_, err := Open(opts)
				c := wantCorruption(t, err)
				if c.Segment != name || c.Offset != int64(tc.ends-9)*testEntryBytes || c.LSN != tc.ends+1 || !strings.Contains(c.Reason, "the store") {
					t.Errorf("store at %d: %v", applied.LSN, err)
				}
				if !maps.Equal(contents(t, opts.Dir), hit) {
					t.Fatalf("store at %d: the refusal has changed the log", applied.LSN)
				}
				r, err := VerifyBeside(opts.Dir, &applied)
				if wantCorruption(t, err); r.TornBytes != 0 || r.Last.LSN != tc.ends {
					t.Errorf("store at %d: %+v", applied.LSN, r)
				}
			}
			opts.Applied = &at[tc.ends]
			checkFrames(t, mustOpen(t, opts), 1, tc.ends)
		})
	}
}

// TestStoreOfAnotherMoment: a store before the log's beginning, or of another history, is refused before
// anything is changed.
func TestStoreOfAnotherMoment(t *testing.T) {
	l, positions := appliedFixture(t)
	mustClose(t, l)
	dir := l.opts.Dir
	editFile(t, segmentFiles(t, dir)[len(segmentFiles(t, dir))-1], func(b []byte) []byte { return append(b, "torn"...) })
	before := contents(t, dir)
	for name, p := range map[string]Position{
		"another hash":      {LSN: 20, Epoch: 1, Hash: Hash{1}},
		"hash at the base":  {LSN: 9, Epoch: 1, Hash: Hash{1}},
		"before the base":   positions[8],
		"the zero position": {},
	} {
		opts := testOptions(dir)
		opts.Applied = &p
		_, opened := Open(opts)
		_, cut := CutTail(opts, 30, filepath.Join(t.TempDir(), "tail"))
		_, relisted := Relist(opts)
		_, verified := VerifyBeside(dir, &p)
		for _, err := range []error{opened, cut, relisted, verified} {
			if m := (*MismatchError)(nil); !errors.As(err, &m) || m.Applied != p {
				t.Errorf("%s: %v", name, err)
			}
		}
		if !maps.Equal(before, contents(t, dir)) {
			t.Fatalf("%s: the refusal has changed the log", name)
		}
	}
	fresh := testOptions(t.TempDir())
	fresh.Applied = &positions[3]
	if _, err := Open(fresh); len(contents(t, fresh.Dir)) != 0 || wantCorruption(t, err) == nil {
		t.Error("a log was made beside a store that has applied commits")
	}
}

// TestRelistBehindTheStore: a log that has lost its end, or its only segment, goes on behind the store,
// which has what is missing. A crash at any step leaves what Relist can be called on again.
func TestRelistBehindTheStore(t *testing.T) {
	files, at := killedBeside(t, 12)
	for what, tc := range map[string]struct {
		lose          string
		applied, last LSN
		ended         LSN
	}{
		"ends before the store":   {segmentName(10), 12, 12, 9},
		"and ends at the store":   {segmentName(10), 9, 9, 9},
		"and ends behind it":      {segmentName(10), 5, 9, 9},
		"has no segment any more": {"all", 12, 12, 0},
	} {
		t.Run(what, func(t *testing.T) {
			hit := maps.Clone(files)
			for name := range files {
				if _, ok := parseSegmentName(name); ok && (tc.lose == name || tc.lose == "all") {
					delete(hit, name)
				}
			}
			for k := 1; ; k++ {
				opts := testOptions(writeContents(t, hit))
				opts.Applied = &at[tc.applied]
				steps := 0
				opts.disk = &stepDisk{before: func(string) error {
					if steps++; steps >= k {
						return errInjected
					}
					return nil
				}}
				_, err := Relist(opts)
				opts.disk = nil
				if steps >= k && !errors.Is(err, errInjected) {
					t.Fatalf("step %d: %v", k, err)
				}
				done, again := Relist(opts)
				if again != nil || done.Last.LSN != tc.last || k == 1 && done.Ended.LSN != tc.ended {
					t.Fatalf("stopped at step %d: %+v, %v", k, done, again)
				}
				l := mustOpen(t, opts)
				mustAppend(t, l, 1)
				if l.Last().LSN != tc.last+1 {
					t.Fatalf("the log goes on at %d", l.Last().LSN)
				}
				mustClose(t, l)
				if steps < k {
					break
				}
			}
		})
	}
}

// TestRelistAlone: without the store it is not known where a log without segments goes on.
func TestRelistAlone(t *testing.T) {
	opts := testOptions(newClosedLog(t, 3))
	if err := os.Remove(filepath.Join(opts.Dir, segmentName(1))); err != nil {
		t.Fatal(err)
	}
	before := contents(t, opts.Dir)
	_, err := Relist(opts)
	if c := wantCorruption(t, err); c.Segment != segmentName(1) || !maps.Equal(before, contents(t, opts.Dir)) {
		t.Errorf("%v", err)
	}
}
