package memory

import (
	"testing"

	"github.com/carillon-io/carillon/job"
	"github.com/carillon-io/carillon/scheduler/logtest"
	"github.com/carillon-io/carillon/scheduler/storetest"
)

// TestStore holds the store to the contract of every store.
func TestStore(t *testing.T) {
	storetest.Run(t, func(*testing.T) storetest.Store { return new(Store) })
}

// TestLog holds the log to the contract of every log.
func TestLog(t *testing.T) {
	logtest.Run(t, func(*testing.T) logtest.Log { return new(Log) })
}

// TestClone: a store and its copy go their own ways.
func TestClone(t *testing.T) {
	var s Store
	key := []byte{byte(job.KindJob)}
	write := func(s *Store, lsn uint64, value string) {
		t.Helper()
		var b job.Batch
		b.Put(key, []byte(value))
		if err := s.Apply(job.Position{LSN: lsn}, b.Bytes()); err != nil {
			t.Fatal(err)
		}
	}
	write(&s, 1, "first")
	c := s.Clone()
	write(&s, 2, "second")
	if v, ok, err := c.Get(key); string(v) != "first" || !ok || err != nil || c.Applied().LSN != 1 {
		t.Errorf("the copy has %q at %v", v, c.Applied())
	}
}
