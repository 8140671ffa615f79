// Package logtest is the conformance suite for logs: tests of what the scheduler needs of each. The log on disk and the logs in
// memory pass it.
package logtest

import (
	"bytes"
	"testing"

	"github.com/carillon-io/carillon/job"
)

// Log is the interface that the suite tests; scheduler.Log says what its method promises.
type Log interface {
	Append(epoch uint64, batch []byte) (job.Position, error)
}

// Run tests the logs that open makes, a new and empty one for each test. open registers its clean-up with t.Cleanup.
func Run(t *testing.T, open func(t *testing.T) Log) {
	t.Run("numbers commits from 1 without a gap", func(t *testing.T) {
		l := open(t)
		for lsn := uint64(1); lsn <= 100; lsn++ {
			append1(t, l, lsn, 1, bytes.Repeat([]byte{byte(lsn)}, int(lsn)))
		}
	})
	t.Run("keeps the epoch of a commit", func(t *testing.T) {
		l := open(t)
		for i, epoch := range []uint64{1, 1, 2, 7, 7, 1 << 40} {
			append1(t, l, uint64(i)+1, epoch, []byte("x"))
		}
	})
	t.Run("takes an empty batch", func(t *testing.T) {
		l := open(t)
		append1(t, l, 1, 1, nil)
		append1(t, l, 2, 1, []byte{})
	})
	t.Run("leaves the batch to the caller", func(t *testing.T) {
		l := open(t)
		batch := bytes.Repeat([]byte("batch"), 100)
		for lsn := uint64(1); lsn <= 3; lsn++ {
			before := bytes.Clone(batch)
			append1(t, l, lsn, 1, batch)
			if !bytes.Equal(batch, before) {
				t.Fatal("the log has changed the batch")
			}
			batch[0]++
		}
	})
}

// append1 appends a commit, and checks its position.
func append1(t *testing.T, l Log, lsn, epoch uint64, batch []byte) {
	t.Helper()
	if at, err := l.Append(epoch, batch); err != nil || at.LSN != lsn || at.Epoch != epoch {
		t.Fatalf("commit %d of epoch %d is at %v: %v", lsn, epoch, at, err)
	}
}
