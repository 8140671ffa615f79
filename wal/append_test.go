package wal

import (
	"bytes"
	"errors"
	"math/rand/v2"
	"path/filepath"
	"testing"

	"github.com/carillon-io/carillon/testkit"
)

// Appends continue the chain, across segments, closing and opening.
func TestAppendContinues(t *testing.T) {
	opts := testOptions(filepath.Join(t.TempDir(), "wal"))
	var want Position
	for life := range 4 {
		l := mustOpen(t, opts)
		if l.Last() != want || l.First() != 1 {
			t.Fatalf("life %d: begins at %d and ends at %v, want %v", life, l.First(), l.Last(), want)
		}
		for range 7 {
			payload := testPayload(want.LSN+1, 900)
			want = Next(want, uint64(life), payload)
			if got, err := l.Append(uint64(life), payload); err != nil || got != want {
				t.Fatalf("appended %v, %v; want %v", got, err, want)
			}
		}
		mustClose(t, l)
	}
}

// The empty payload and the largest one are commits; one byte more is refused and changes nothing.
func TestPayloadSizes(t *testing.T) {
	l := mustOpen(t, testOptions(filepath.Join(t.TempDir(), "wal")))
	for _, n := range []int{0, 1, MaxPayload} {
		if _, err := l.Append(1, make([]byte, n)); err != nil {
			t.Fatalf("%d bytes: %v", n, err)
		}
	}
	if _, err := l.Append(1, make([]byte, MaxPayload+1)); !errors.Is(err, ErrTooLarge) {
		t.Fatalf("got %v", err)
	}
	if _, err := l.Append(1, nil); err != nil || l.Last().LSN != 4 {
		t.Fatalf("after a refusal: %v, last %v", err, l.Last())
	}
}

func TestEpochOnlyGrows(t *testing.T) {
	l := mustOpen(t, testOptions(filepath.Join(t.TempDir(), "wal")))
	for _, epoch := range []uint64{0, 3, 3, 9} {
		if _, err := l.Append(epoch, nil); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := l.Append(8, nil); !errors.Is(err, ErrEpoch) || l.Last().LSN != 4 {
		t.Fatalf("got %v, last %v", err, l.Last())
	}
}

// A log that begins after an LSN keeps that position while it is empty, over any number of
// openings.
func TestStart(t *testing.T) {
	opts := testOptions(filepath.Join(t.TempDir(), "wal"))
	opts.Start = Position{LSN: 1000, Epoch: 5, Hash: Hash{1, 2, 3}}
	for range 2 {
		l := mustOpen(t, opts)
		if l.First() != 1001 || l.Last() != opts.Start || l.Base() != opts.Start {
			t.Fatalf("begins at %d after %v", l.First(), l.Last())
		}
		mustClose(t, l)
	}
	opts.Start = Position{} // matters only to a new log
	l := mustOpen(t, opts)
	if _, err := l.Append(4, nil); !errors.Is(err, ErrEpoch) {
		t.Fatalf("an epoch below the start's: %v", err)
	}
	pos, err := l.Append(5, []byte("x"))
	if err != nil || pos.LSN != 1001 {
		t.Fatalf("appended %v, %v", pos, err)
	}
}

func TestOptionsAreChecked(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "wal")
	for name, opts := range map[string]Options{
		"no directory":        {},
		"small segments":      {Dir: dir, SegmentBytes: SegmentBytesMin - 1},
		"negative segments":   {Dir: dir, SegmentBytes: -1},
		"large segments":      {Dir: dir, SegmentBytes: SegmentBytesMax + 1},
		"start without LSN":   {Dir: dir, Start: Position{Epoch: 1}},
		"start beyond limits": {Dir: dir, Start: Position{LSN: 1 << 63}},
		"no parent":           {Dir: filepath.Join(dir, "a", "b")},
	} {
		if l, err := Open(opts); err == nil {
			t.Errorf("%s: accepted", name)
			_ = l.Close()
		}
	}
}

// Append must know, from sizes alone, when the library begins a segment: it syncs the directory
// then. Random sizes and segment sizes, with openings in between, are compared with the names in
// the directory.
func TestSegmentsAppearAsPredicted(t *testing.T) {
	testkit.NotUnderRace(t, oneAtATime)
	seed := testkit.Seed(t)
	t.Logf("seed %d", seed)
	rng := rand.New(rand.NewPCG(seed, 0))
	opts := testOptions(filepath.Join(t.TempDir(), "wal"))
	for range 12 {
		opts.SegmentBytes = SegmentBytesMin + rng.IntN(3*SegmentBytesMin)
		l := mustOpen(t, opts)
		for range 40 {
			if _, err := l.Append(1, make([]byte, rng.IntN(2*SegmentBytesMin))); err != nil {
				t.Fatal(err)
			}
			files := segmentFiles(t, opts.Dir)
			tail := l.state.segments[len(l.state.segments)-1]
			if len(files) != len(l.state.segments) || filepath.Base(files[len(files)-1]) != tail.name() {
				t.Fatalf("the directory ends with %s, the log with %s", files[len(files)-1], tail.name())
			}
		}
		mustClose(t, l)
	}
}

// The same at the border itself, to the byte.
func TestSegmentBorder(t *testing.T) {
	for d := -2; d <= 2; d++ {
		opts := testOptions(filepath.Join(t.TempDir(), "wal"))
		l := mustOpen(t, opts)
		mustAppend(t, l, 1)
		rest := testSegmentBytes - testEntryBytes - headerBytes - 2
		if _, err := l.Append(1, make([]byte, rest+d)); err != nil {
			t.Fatal(err)
		}
		want := 1
		if d >= 0 {
			want = 2
		}
		if files := segmentFiles(t, opts.Dir); len(files) != want || len(l.state.segments) != want {
			t.Errorf("%+d bytes: %d files and %d segments, want %d", d, len(files), len(l.state.segments), want)
		}
	}
}

// spaceDisk has a settable amount of free space and counts the questions.
type spaceDisk struct {
	osDisk
	left  int64
	asked int
}

func (d *spaceDisk) free(string) (int64, error) {
	d.asked++
	return d.left, nil
}

// The reserve is met before the write: the refused commit leaves no trace, and the log goes on when
// there is space again.
func TestReserve(t *testing.T) {
	d := &spaceDisk{left: 1 << 40}
	opts := testOptions(filepath.Join(t.TempDir(), "wal"))
	opts.ReserveBytes, opts.SegmentBytes, opts.disk = 1<<20, 1<<20, d
	l := mustOpen(t, opts)
	mustAppend(t, l, 600)
	if d.asked < 2 || d.asked > 5 {
		t.Errorf("asked %d times for 600 commits", d.asked)
	}
	d.left = 1<<20 + MaxPayload/2
	if _, err := l.Append(1, make([]byte, MaxPayload)); !errors.Is(err, ErrNoSpace) || l.Last().LSN != 600 {
		t.Fatalf("got %v, last %v", err, l.Last())
	}
	mustAppend(t, l, 1) // a small one still fits
	d.left = 1 << 20
	if _, err := l.Append(1, make([]byte, MaxPayload)); !errors.Is(err, ErrNoSpace) {
		t.Fatal(err)
	}
	if _, err := l.Append(1, nil); !errors.Is(err, ErrNoSpace) {
		t.Fatalf("got %v", err)
	}
	d.left = 1 << 40
	mustAppend(t, l, 1)
	checkFrames(t, l, 1, 602)
}

// A log that writes little sees in time that others have filled the disk.
func TestReserveOfAQuietLog(t *testing.T) {
	d := &spaceDisk{left: 1 << 40}
	g := spaceGuard{disk: d, reserve: 1 << 20}
	admit := func() error { return g.admit(100) }
	if err := admit(); err != nil {
		t.Fatal(err)
	}
	d.left = 0
	if err := admit(); err != nil || d.asked != 1 {
		t.Errorf("at once it asked %d times, %v", d.asked, err)
	}
	g.checked = g.checked.Add(-spaceCheckEvery)
	if err := admit(); !errors.Is(err, ErrNoSpace) {
		t.Errorf("a while later: %v", err)
	}
}

// The real disk answers with something sensible.
func TestFreeSpaceOfTheRealDisk(t *testing.T) {
	free, err := osDisk{}.free(t.TempDir())
	if err != nil || free <= 0 {
		t.Fatalf("%d, %v", free, err)
	}
}

func TestAppendAllocatesLittle(t *testing.T) {
	opts := testOptions(filepath.Join(t.TempDir(), "wal"))
	opts.SegmentBytes, opts.ReserveBytes, opts.disk = 0, 0, idleDisk{}
	l := mustOpen(t, opts)
	payload := bytes.Repeat([]byte("x"), 300)
	// The library's own buffers grow now and then, which the average shows as a fraction.
	perAppend := testing.AllocsPerRun(500, func() {
		if _, err := l.Append(1, payload); err != nil {
			t.Fatal(err)
		}
	})
	if perAppend > 0.5 {
		t.Errorf("%v allocations for each append", perAppend)
	}
}

// Nothing works on a closed log, and closing again is harmless.
func TestClosed(t *testing.T) {
	l := mustOpen(t, testOptions(filepath.Join(t.TempDir(), "wal")))
	mustAppend(t, l, 2)
	r, err := l.NewReader(1)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	mustClose(t, l)
	mustClose(t, l)
	_, appendErr := l.Append(1, nil)
	_, readerErr := l.NewReader(1)
	_, nextErr := r.Next()
	for _, err := range []error{appendErr, readerErr, nextErr, l.TruncateFront(1), l.CheckApplied(Position{LSN: 1})} {
		if !errors.Is(err, ErrClosed) {
			t.Errorf("got %v", err)
		}
	}
}
