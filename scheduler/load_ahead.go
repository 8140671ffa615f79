package scheduler

import (
	"errors"

	"github.com/carillon-io/carillon/scheduler/core"
)

// A start with many jobs is faster on two cores: one goroutine reads and decodes rows while another adds them to the
// core.

// blocksMost is the number of blocks in use between the two goroutines: about two mebibytes. Both channels have room for all
// blocks, so neither goroutine waits in a send.
const blocksMost = 4

// errEnough ends a scan whose further rows are not needed.
var errEnough = errors.New("scheduler: enough rows")

// aheadScanner reads ahead of what is added.
type aheadScanner struct{ core.Scanner }

// ScanBlocks implements [core.BlockScanner]. After an error of Add it receives the remaining blocks without using them, so
// that the other goroutine can end.
func (a aheadScanner) ScanBlocks(low, high []byte, empty func() core.Block) error {
	full, free := make(chan core.Block, blocksMost), make(chan core.Block, blocksMost)
	for range blocksMost {
		free <- empty()
	}
	gone := make(chan struct{})
	var scanErr error
	go func() {
		defer close(full)
		scanErr = fillBlocks(a.Scanner, low, high, full, free, gone)
	}()
	var addErr error
	for b := range full {
		if addErr == nil {
			if addErr = b.Add(); addErr != nil {
				close(gone)
			}
		}
		free <- b
	}
	if addErr != nil {
		return addErr
	}
	return scanErr
}

// fillBlocks reads rows into blocks until the end of the range, or until gone is closed. After an error the block that it
// was filling is not handed over.
func fillBlocks(from core.Scanner, low, high []byte, full chan<- core.Block, free <-chan core.Block, gone <-chan struct{}) error {
	b := <-free
	err := from.Scan(low, high, func(key, value []byte) (bool, error) {
		if err := b.Read(key, value); err != nil || !b.IsFull() {
			return true, err
		}
		full <- b
		b = <-free
		select {
		case <-gone:
			return false, errEnough
		default:
			return true, nil
		}
	})
	if err == nil {
		full <- b
	}
	return err
}
