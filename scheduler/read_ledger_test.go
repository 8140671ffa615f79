package scheduler

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/carillon-io/carillon/job"
)

// kindsRead is a store that records the kinds of rows that are asked for.
type kindsRead struct {
	*memStore
	kinds []job.Kind
}

// Scan implements Store.
func (k *kindsRead) Scan(low, high []byte, fn func(key, value []byte) (bool, error)) error {
	k.kinds = append(k.kinds, job.Kind(low[0]))
	return k.memStore.Scan(low, high, fn)
}

// Get implements Store.
func (k *kindsRead) Get(key []byte) ([]byte, bool, error) {
	k.kinds = append(k.kinds, job.Kind(key[0]))
	return k.memStore.Get(key)
}

// TestUpdateToLaterTickReadsNoHistory: an update to a one-shot costs no more the further ahead its tick is. One for a tick
// that may have been decided still reads what became of it.
func TestUpdateToLaterTickReadsNoHistory(t *testing.T) {
	s := newSim(t, time.Date(2026, 1, 5, 12, 0, 0, 0, time.UTC), Settings{CompletedRetention: -1})
	for _, c := range []struct {
		schedule string
		reads    bool
	}{
		{"@at 2026-01-05T12:00:02Z", false}, // registers
		{"@at 2026-01-06T12:00:00Z", false},
		{"@at 9999-12-31T23:00:00Z", false},
		{"@every 1s", false},
		{"@at 9999-12-31T22:00:00Z", false}, // runs are decided by now
		{"@at 2026-01-05T12:00:01Z", true},
	} {
		store := &kindsRead{memStore: s.store}
		s.engine.opts.Store = store
		s.putIn("a", c.schedule, "")
		if got := slices.Contains(store.kinds, job.KindHistory); got != c.reads {
			t.Errorf("the update to %s reads the history: %v", c.schedule, got)
		}
		if c.schedule == "@every 1s" {
			s.advance(3 * time.Second)
		}
	}
}

// TestUpdateInASkippedRange: an update skips the ticks that it does not decide itself, in ranges, and older ticks lie between
// them. While such a range lasts, another update decides none of its ticks.
func TestUpdateInASkippedRange(t *testing.T) {
	s := newSim(t, time.Date(2026, 1, 5, 12, 0, 0, 0, time.UTC), Settings{Lead: 30 * time.Second, CompletedRetention: -1})
	s.putIn("a", "@every 1s", "")   // decides ticks up to 12:00:30
	s.putIn("a", "@every 30ms", "") // decides 64 itself, and skips the rest up to there
	s.advance(2500 * time.Millisecond)
	ledger := s.ledger("a")
	for _, row := range []string{"12:00:01.950 skipped (superseded) until 12:00:02.970", "12:00:02.000 skipped"} {
		if !strings.Contains(ledger, row) {
			t.Fatalf("no row %q in\n%s", row, ledger)
		}
	}
	s.putIn("a", "@every 100ms", "")
	if ledger = s.ledger("a"); strings.Contains(ledger, "12:00:02.600") {
		t.Errorf("the tick of 12:00:02.600, which the range contains, is decided again:\n%s", ledger)
	}
}
