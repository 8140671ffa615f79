package scheduler

import (
	"errors"
	"fmt"
	"testing"

	"github.com/carillon-io/carillon/job"
	"github.com/carillon-io/carillon/memory"
	"github.com/carillon-io/carillon/scheduler/core"
	"github.com/carillon-io/carillon/scheduler/logtest"
)

// memStore is the store of engines in virtual time.
type memStore = memory.Store

func newMemStore() *memStore { return new(memStore) }

// memLog is a Log that only counts, and that a test can make fail. Like the log of a server, it accepts no batch over
// CommitBytesMax.
type memLog struct {
	lsn  uint64
	fail bool
	tail func(at job.Position, batch []byte) // gets what is appended; may be nil
}

var errDiskGone = errors.New("the disk is gone")

func (l *memLog) Append(epoch uint64, batch []byte) (job.Position, error) {
	if l.fail {
		return job.Position{}, errDiskGone
	}
	if len(batch) > core.CommitBytesMax {
		return job.Position{}, fmt.Errorf("a commit of %d bytes; at most %d are allowed", len(batch), core.CommitBytesMax)
	}
	l.lsn++
	at := job.Position{LSN: l.lsn, Epoch: epoch}
	if l.tail != nil {
		l.tail(at, batch)
	}
	return at, nil
}

// TestMemLog holds the log of these tests to the contract of every log.
func TestMemLog(t *testing.T) {
	logtest.Run(t, func(*testing.T) logtest.Log { return new(memLog) })
}
