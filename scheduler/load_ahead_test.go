package scheduler

import (
	"bytes"
	"errors"
	"fmt"
	"testing"

	"github.com/carillon-io/carillon/scheduler/core"
)

// countingScanner has so many rows, and fails after them if it is to.
type countingScanner struct {
	rows int
	err  error
}

func (s countingScanner) Scan(_, _ []byte, fn func(key, value []byte) (bool, error)) error {
	for i := range s.rows {
		key := fmt.Appendf(nil, "key-%07d", i)
		more, err := fn(key, key[:i%len(key)])
		clear(key) // the bytes are lent
		if err != nil || !more {
			return err
		}
	}
	return s.err
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

// scanAhead passes rows through blocks of two goroutines.
func scanAhead(from core.Scanner, add func(key, value []byte) error) error {
	return aheadScanner{from}.ScanBlocks(nil, nil, func() core.Block { return &fewRows{add: add} })
}

// TestScanAhead hands over every row in order, from no rows to many blocks of them.
func TestScanAhead(t *testing.T) {
	for _, rows := range []int{0, 1, 100, 1000, 100_000} {
		n := 0
		err := scanAhead(countingScanner{rows: rows}, func(key, value []byte) error {
			want := fmt.Appendf(nil, "key-%07d", n)
			if !bytes.Equal(key, want) || !bytes.Equal(value, want[:n%len(want)]) {
				t.Fatalf("row %d is %q: %q", n, key, value)
			}
			n++
			return nil
		})
		if err != nil || n != rows {
			t.Errorf("%d of %d rows, %v", n, rows, err)
		}
	}
}

// TestScanAheadFails ends with the error of either side, and with both sides gone.
func TestScanAheadFails(t *testing.T) {
	broken, refused := errors.New("broken"), errors.New("refused")
	if err := scanAhead(countingScanner{rows: 50_000, err: broken}, func([]byte, []byte) error { return nil }); err != broken {
		t.Errorf("a scan that fails: %v", err)
	}
	n := 0
	err := scanAhead(countingScanner{rows: 1_000_000}, func([]byte, []byte) error {
		if n++; n == 3 {
			return refused
		}
		return nil
	})
	if err != refused || n != 3 {
		t.Errorf("a row that is refused: %v after %d", err, n)
	}
}
