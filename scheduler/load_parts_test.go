package scheduler

import (
	"bytes"
	"fmt"
	"testing"
	"time"

	"github.com/carillon-io/carillon/job"
	"github.com/carillon-io/carillon/scheduler/core"
)

// cutStore cuts the keys of each kind after so many rows.
type cutStore struct {
	core.Scanner
	every int
}

// Cuts implements [cutter].
func (s cutStore) Cuts(low, high []byte) (cuts [][]byte, err error) {
	n := 0
	err = s.Scan(low, high, func(key, _ []byte) (bool, error) {
		if n++; n%s.every == 0 {
			cuts = append(cuts, bytes.Clone(key))
		}
		return true, nil
	})
	return cuts, err
}

// TestLoadInParts: a core that is loaded in parts, by several readers, is the one that is loaded row by row: its jobs, its
// schedules, its tenants, and where on the wheel each job is.
func TestLoadInParts(t *testing.T) {
	s := newSim(t, time.Date(2026, 1, 5, 12, 0, 0, 0, time.UTC), Settings{})
	for i := range 200 {
		def := quotaDef(fmt.Sprint("t", i%3), fmt.Sprint("job/", i), i)
		def.Schedule = fmt.Sprintf("@every %dm", 60+i%31)
		if err := s.register(def); err != nil {
			t.Fatal(err)
		}
	}
	load := func(from core.Scanner) *core.Core {
		c := core.New(s.opts.Settings, 0)
		if err := c.Load(from, s.engine.hasher); err != nil {
			t.Fatal(err)
		}
		return c
	}
	for _, every := range []int{1, 7, 100, 1000} {
		from := newAheadScanner(cutStore{s.store, every}, nil)
		from.readers = 3
		want, got := load(s.store), load(from) // both anew, because the comparison empties their wheels
		if diff := core.Diff(want, got, true); diff != "" || got.Reading().Jobs != 200 {
			t.Errorf("in parts of %d rows, %d jobs: %s", every, got.Reading().Jobs, diff)
		}
	}
}

// TestLoadInPartsNamesDamage: a row that is damaged is named, whichever reader finds it, and also if later parts are damaged
// too.
func TestLoadInPartsNamesDamage(t *testing.T) {
	s := newSim(t, time.Date(2026, 1, 5, 12, 0, 0, 0, time.UTC), Settings{})
	for i := range 50 {
		if err := s.register(quotaDef("t", fmt.Sprint("job/", i), i)); err != nil {
			t.Fatal(err)
		}
	}
	var texts []string
	for _, from := range []core.Scanner{damagedTimers{s.store}, newAheadScanner(cutStore{damagedTimers{s.store}, 3}, nil)} {
		err := core.New(s.opts.Settings, 0).Load(from, s.engine.hasher)
		if err == nil {
			t.Fatal("damaged timers are loaded")
		}
		texts = append(texts, err.Error())
	}
	if texts[0] != texts[1] {
		t.Errorf("in one part: %s\nin many: %s", texts[0], texts[1])
	}
}

// damagedTimers has no bytes in every tenth timer.
type damagedTimers struct{ core.Scanner }

func (s damagedTimers) Scan(low, high []byte, fn func(key, value []byte) (bool, error)) error {
	return s.Scanner.Scan(low, high, func(key, value []byte) (bool, error) {
		if id, err := job.ParseJobKey(key); err == nil && job.Kind(key[0]) == job.KindTimer && id.Counter()%10 == 5 {
			value = nil
		}
		return fn(key, value)
	})
}
