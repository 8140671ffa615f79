package scheduler

import (
	"errors"

	"github.com/carillon-io/carillon/scheduler/core"
)

// A start with many jobs is faster on two cores: one goroutine reads rows while another adds them to the core.

// rowBlock is a number of rows that are handed over together. Their keys and values are stored one after the other in
// data. Rows are copied into blocks because the store's slices are valid only within the scan; one copy of many rows
// costs less than many small ones.
type rowBlock struct {
	data []byte
	ends []uint32 // end in data of each key and each value
}

// Bounds of the memory between the two goroutines: a mebibyte. Both channels have room for all blocks, so neither
// goroutine waits in a send.
const (
	blockBytes = 256 << 10
	blocksMost = 4 // blocks in use between the two goroutines
)

// errEnough ends a scan whose further rows are not needed.
var errEnough = errors.New("scheduler: enough rows")

// aheadScanner reads ahead of what it hands over. Its scans end with the range, or with an error. A core never ends a
// scan early, so the lack of that does not show.
type aheadScanner struct{ from core.Scanner }

// Scan implements [core.Scanner], except that fn cannot end the scan by more.
func (a aheadScanner) Scan(low, high []byte, fn func(key, value []byte) (more bool, err error)) error {
	return scanAhead(a.from, low, high, func(key, value []byte) error {
		_, err := fn(key, value)
		return err
	})
}

// scanAhead calls row for the rows in [low, high), in order, while another goroutine reads further rows. Key and value
// are valid only until row returns. After an error of row it receives the remaining blocks without using them, so that
// the other goroutine can end.
func scanAhead(from core.Scanner, low, high []byte, row func(key, value []byte) error) error {
	full, free := make(chan *rowBlock, blocksMost), make(chan *rowBlock, blocksMost)
	for range blocksMost {
		free <- new(rowBlock)
	}
	gone := make(chan struct{})
	var scanErr error
	go func() {
		defer close(full)
		scanErr = fillBlocks(from, low, high, full, free, gone)
	}()
	var rowErr error
	for b := range full {
		if rowErr == nil {
			if rowErr = b.each(row); rowErr != nil {
				close(gone)
			}
		}
		free <- b
	}
	if rowErr != nil {
		return rowErr
	}
	return scanErr
}

// fillBlocks reads rows into blocks until the end of the range, or until gone is closed.
func fillBlocks(from core.Scanner, low, high []byte, full chan<- *rowBlock, free <-chan *rowBlock, gone <-chan struct{}) error {
	b := <-free
	err := from.Scan(low, high, func(key, value []byte) (bool, error) {
		b.add(key, value)
		if len(b.data) < blockBytes {
			return true, nil
		}
		full <- b
		b = <-free
		b.reset()
		select {
		case <-gone:
			return false, errEnough
		default:
			return true, nil
		}
	})
	full <- b
	return err
}

func (b *rowBlock) reset() { b.data, b.ends = b.data[:0], b.ends[:0] }

// add copies a row to the end of the block.
func (b *rowBlock) add(key, value []byte) {
	b.data = append(b.data, key...)
	b.ends = append(b.ends, uint32(len(b.data)))
	b.data = append(b.data, value...)
	b.ends = append(b.ends, uint32(len(b.data)))
}

// each calls row for the rows of the block. The slices that it passes have no spare capacity, so an append of the
// callee cannot overwrite the next row.
func (b *rowBlock) each(row func(key, value []byte) error) error {
	begin := uint32(0)
	for i := 0; i < len(b.ends); i += 2 {
		if err := row(b.data[begin:b.ends[i]:b.ends[i]], b.data[b.ends[i]:b.ends[i+1]:b.ends[i+1]]); err != nil {
			return err
		}
		begin = b.ends[i+1]
	}
	return nil
}
