package wal

import (
	"errors"
	"testing"
)

// Only whole segments go, and never the one that is written to.
func TestTruncateFront(t *testing.T) {
	for keep, wantFirst := range map[LSN]LSN{
		0: 1, 1: 1, 2: 1, 9: 1, 10: 10, 11: 10, 18: 10, 19: 19, 28: 28, 33: 28, 34: 28, 35: 28,
	} {
		dir := newTestLog(t, 34)
		l := mustOpen(t, testOptions(dir))
		if err := l.TruncateFront(keep); err != nil {
			t.Fatal(err)
		}
		checkFrames(t, l, wantFirst, 34)
		if err := l.TruncateFront(keep); err != nil {
			t.Fatalf("again: %v", err)
		}
		mustAppend(t, l, 1)
		mustClose(t, l)
		checkFrames(t, mustOpen(t, testOptions(dir)), wantFirst, 35)
	}
}

func TestTruncateBeyondTheEnd(t *testing.T) {
	l := mustOpen(t, testOptions(newTestLog(t, 12)))
	if err := l.TruncateFront(14); !errors.Is(err, ErrOutOfRange) {
		t.Fatalf("got %v", err)
	}
	mustAppend(t, l, 1) // not poisoned
	checkFrames(t, l, 1, 13)
}

// When a segment has just been filled, everything may go. The emptied log keeps its position, hash
// included, and continues the chain.
func TestTruncateAll(t *testing.T) {
	dir := newTestLog(t, 2*testSegmentLSNs)
	l := mustOpen(t, testOptions(dir))
	last := l.Last()
	if err := l.TruncateFront(last.LSN + 1); err != nil {
		t.Fatal(err)
	}
	for range 2 {
		if l.First() != last.LSN+1 || l.Last() != last || l.Base() != last {
			t.Fatalf("begins at %d after %v, want %v", l.First(), l.Last(), last)
		}
		if err := l.CheckApplied(last); err != nil {
			t.Fatal(err)
		}
		mustClose(t, l)
		l = mustOpen(t, testOptions(dir))
	}
	mustAppend(t, l, 12)
	mustClose(t, l)
	checkFrames(t, mustOpen(t, testOptions(dir)), last.LSN+1, last.LSN+12)
}

// The library's memory of old segments does not grow with the life of a log.
func TestManySegments(t *testing.T) {
	opts := testOptions(newTestLog(t, 1))
	opts.disk = idleDisk{}
	l := mustOpen(t, opts)
	for range 60 {
		mustAppend(t, l, testSegmentLSNs)
		if err := l.TruncateFront(l.Last().LSN); err != nil {
			t.Fatal(err)
		}
	}
	if n := len(segmentFiles(t, opts.Dir)); n != 1 {
		t.Errorf("%d segments are left", n)
	}
	if n := cap(l.state.segments); n > 8 {
		t.Errorf("%d segments are remembered", n)
	}
}
