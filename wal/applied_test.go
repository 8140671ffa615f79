package wal

import (
	"errors"
	"path/filepath"
	"testing"
)

// appliedFixture is a log of commits 10 to 34, and the positions of all 34.
func appliedFixture(t *testing.T) (*Log, []Position) {
	t.Helper()
	l := mustOpen(t, testOptions(filepath.Join(t.TempDir(), "wal")))
	positions := []Position{{}}
	for range 34 {
		mustAppend(t, l, 1)
		positions = append(positions, l.Last())
	}
	if err := l.TruncateFront(10); err != nil {
		t.Fatal(err)
	}
	return l, positions
}

// A store may stand anywhere from the log's base to its end.
func TestCheckApplied(t *testing.T) {
	l, positions := appliedFixture(t)
	for lsn, p := range positions {
		err := l.CheckApplied(p)
		if m := (*MismatchError)(nil); errors.As(err, &m) != (lsn < 9) || err != nil && m == nil {
			t.Fatalf("applied %d: %v", lsn, err)
		}
	}
}

func TestCheckAppliedMismatch(t *testing.T) {
	l, positions := appliedFixture(t)
	last := positions[34]
	for name, p := range map[string]Position{
		"ahead of the log":  Next(last, 1, nil),
		"another hash":      {LSN: 20, Epoch: 1, Hash: Hash{1}},
		"another epoch":     {LSN: 20, Epoch: 2, Hash: positions[20].Hash},
		"hash at the base":  {LSN: 9, Epoch: 1, Hash: Hash{1}},
		"before the base":   positions[8],
		"the zero position": {},
	} {
		var m *MismatchError
		if err := l.CheckApplied(p); !errors.As(err, &m) || m.Applied != p {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// The losses that leave a log whole, and that the watermark has not reached yet, are the store's to find:
// the last segment, and the last commit.
func TestCheckAppliedFindsLostCommits(t *testing.T) {
	for name, keep := range map[string]int64{"last commit": testEntryBytes, "last segment": 0} {
		t.Run(name, func(t *testing.T) {
			dir := filepath.Join(t.TempDir(), "wal")
			l := mustOpen(t, testOptions(dir))
			mustAppend(t, l, testSegmentLSNs+2)
			applied := l.Last()
			mustKill(t, l)
			editFile(t, segmentFiles(t, dir)[1], func(b []byte) []byte { return b[:keep] })
			l = mustOpen(t, testOptions(dir))
			var m *MismatchError
			if err := l.CheckApplied(applied); !errors.As(err, &m) {
				t.Fatalf("got %v", err)
			}
		})
	}
}
