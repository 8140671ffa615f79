package scheduler

import (
	"bytes"
	"errors"
	"fmt"
	"testing"

	"github.com/carillon-io/carillon/scheduler/core"
)

// countingScanner has so many rows, and fails at the end of them if it is to.
type countingScanner struct {
	rows int
	err  error
}

func (s countingScanner) Scan(low, high []byte, fn func(key, value []byte) (bool, error)) error {
	begin := 0
	_, _ = fmt.Sscanf(string(low), "key-%d", &begin)
	for i := begin; i < s.rows; i++ {
		key := countedKey(i)
		if len(high) > 1 && bytes.Compare(key, high) >= 0 {
			return nil
		}
		more, err := fn(key, key[:i%len(key)])
		clear(key) // the bytes are lent
		if err != nil || !more {
			return err
		}
	}
	return s.err
}

// countedKey returns the key of a row of a countingScanner.
func countedKey(i int) []byte { return fmt.Appendf(nil, "key-%07d", i) }

// cutScanner is a countingScanner whose keys are cut into parts.
type cutScanner struct {
	countingScanner
	parts int
}

// Cuts implements [cutter].
func (s cutScanner) Cuts(_, _ []byte) (cuts [][]byte, err error) {
	for n := 1; n < s.parts; n++ {
		cuts = append(cuts, countedKey(s.rows*n/s.parts))
	}
	return cuts, nil
}

// fewRows is a block of a few rows, which it passes on when they are added.
type fewRows struct {
	keys, values [][]byte
	add          func(key, value []byte) error
}

func (b *fewRows) Read(key, value []byte) error {
	b.keys, b.values = append(b.keys, bytes.Clone(key)), append(b.values, bytes.Clone(value))
	return nil
}

func (b *fewRows) IsFull() bool { return len(b.keys) == 100 }

func (b *fewRows) Add() error {
	for i := range b.keys {
		if err := b.add(b.keys[i], b.values[i]); err != nil {
			return err
		}
	}
	b.keys, b.values = nil, nil
	return nil
}

// scanAhead passes rows, in parts, through the blocks of three readers.
func scanAhead(rows countingScanner, parts int, add func(key, value []byte) error) error {
	a := newAheadScanner(cutScanner{rows, parts}, nil)
	a.readers = 3
	return a.ScanBlocks(nil, nil, func() core.Block { return &fewRows{add: add} })
}

// TestScanAhead hands over every row in order, from no rows to many blocks of them, and from one part to more parts than there
// are readers. A part of 100,000 rows is more than the blocks of a reader hold.
func TestScanAhead(t *testing.T) {
	for _, rows := range []int{0, 1, 100, 1000, 100_000} {
		for _, parts := range []int{1, 2, 50} {
			n := 0
			err := scanAhead(countingScanner{rows: rows}, parts, func(key, value []byte) error {
				want := countedKey(n)
				if !bytes.Equal(key, want) || !bytes.Equal(value, want[:n%len(want)]) {
					t.Fatalf("row %d of %d in %d parts is %q: %q", n, rows, parts, key, value)
				}
				n++
				return nil
			})
			if err != nil || n != rows {
				t.Errorf("%d of %d rows in %d parts, %v", n, rows, parts, err)
			}
		}
	}
}

// TestScanAheadFails ends with the first error in the order of keys, of either side, and with both sides gone.
func TestScanAheadFails(t *testing.T) {
	broken, refused := errors.New("broken"), errors.New("refused")
	for _, parts := range []int{1, 50} {
		if err := scanAhead(countingScanner{rows: 50_000, err: broken}, parts, func([]byte, []byte) error { return nil }); err != broken {
			t.Errorf("a scan that fails: %v", err)
		}
		n := 0
		err := scanAhead(countingScanner{rows: 100_000, err: broken}, parts, func([]byte, []byte) error {
			if n++; n == 3 {
				return refused
			}
			return nil
		})
		if err != refused || n != 3 {
			t.Errorf("a row that is refused: %v after %d", err, n)
		}
	}
}

// TestSpread: every number is done once, before Spread returns.
func TestSpread(t *testing.T) {
	for _, n := range []int{0, 1, 100} {
		done := make([]int, n)
		aheadScanner{readers: 3}.Spread(n, func(i int) { done[i]++ })
		for i, times := range done {
			if times != 1 {
				t.Errorf("%d of %d was done %d times", i, n, times)
			}
		}
	}
}
