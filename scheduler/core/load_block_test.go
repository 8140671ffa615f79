package core

import (
	"errors"
	"testing"

	"github.com/carillon-io/carillon/job"
)

// errBlockFull ends a scan that has filled a block.
var errBlockFull = errors.New("full")

// TestRowsNeedNoMemory: a block that is used again takes timers and names without new memory.
func TestRowsNeedNoMemory(t *testing.T) {
	s := newBenchStore(2*blockRows, 0)
	c := New(Settings{}, s.start)
	if err := c.Load(s, testHasher{}); err != nil {
		t.Fatal(err)
	}
	timers, names := &timerBlock{core: c}, &nameBlock{core: c}
	for _, b := range []struct {
		kind  job.Kind
		block Block
		empty func()
	}{
		{job.KindTimer, timers, func() { timers.rows = timers.rows[:0] }},
		{job.KindName, names, func() { names.rows, names.tenants, names.text = names.rows[:0], names.tenants[:0], names.text[:0] }},
	} {
		var keys, values [][]byte
		err := s.Scan([]byte{byte(b.kind)}, nil, func(key, value []byte) (bool, error) {
			keys, values = append(keys, append([]byte(nil), key...)), append(values, append([]byte(nil), value...))
			if len(keys) == blockRows {
				return false, errBlockFull
			}
			return true, nil
		})
		if err != errBlockFull {
			t.Fatal(err)
		}
		fill := func() {
			b.empty()
			for i := range keys {
				if err := b.block.Read(keys[i], values[i]); err != nil {
					t.Fatal(err)
				}
			}
		}
		fill()
		if n := testing.AllocsPerRun(10, fill); !b.block.IsFull() || n > 1 { // the tenant's name
			t.Errorf("%d rows of kind %d took %v allocations", blockRows, b.kind, n)
		}
	}
}
