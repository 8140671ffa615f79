// Package apitest is what the tests of the API and of its ways in share: an engine in memory, one with canned answers, a
// NATS server, requests that must be refused, and a checker of JSON schemas. It is for tests, and knows nothing of package
// api.
package apitest

import (
	"context"
	"log/slog"
	"maps"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/carillon-io/carillon/job"
	"github.com/carillon-io/carillon/scheduler"
)

// Quiet is a logger for what tests provoke.
var Quiet = slog.New(slog.DiscardHandler)

// memory is the log and the store of a real engine, in memory.
type memory struct {
	mu      sync.Mutex
	rows    map[string][]byte
	lsn     uint64
	applied job.Position
}

func (m *memory) Append(epoch uint64, _ []byte) (job.Position, error) {
	m.lsn++
	return job.Position{LSN: m.lsn, Epoch: epoch}, nil
}

func (m *memory) Apply(at job.Position, batch []byte) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.applied = at
	return job.Changes(batch, func(c job.Change) error {
		switch c.Op {
		case job.OpPut:
			m.rows[string(c.Key)] = slices.Clone(c.Value)
		case job.OpDelete:
			delete(m.rows, string(c.Key))
		case job.OpDeleteRange:
			maps.DeleteFunc(m.rows, func(k string, _ []byte) bool { return k >= string(c.Key) && k < string(c.Value) })
		}
		return nil
	})
}

func (m *memory) Applied() job.Position {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.applied
}

func (m *memory) Get(key []byte) ([]byte, bool, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	v, ok := m.rows[string(key)]
	return slices.Clone(v), ok, nil
}

func (m *memory) Scan(low, high []byte, fn func(key, value []byte) (bool, error)) error {
	m.mu.Lock()
	rows := maps.Clone(m.rows)
	m.mu.Unlock()
	for _, k := range slices.Sorted(maps.Keys(rows)) {
		if k < string(low) || high != nil && k >= string(high) {
			continue
		}
		if more, err := fn([]byte(k), rows[k]); err != nil || !more {
			return err
		}
	}
	return nil
}

// willing is a sender whose targets take everything at once.
type willing struct{ scheduler.Boundless }

// Cancel implements scheduler.Sender: nothing takes long enough to be cancelled.
func (willing) Cancel(job.RunID) {}

func (willing) Launch(d *job.Delivery, done func(job.Outcome)) {
	go done(job.Outcome{Run: d.Run, Attempt: d.Attempt, LaunchedAt: time.Now(), Duration: time.Millisecond})
}

// StartEngine runs a real engine for the length of a test.
func StartEngine(t testing.TB) *scheduler.Engine {
	t.Helper()
	m := &memory{rows: make(map[string][]byte)}
	// A history long enough for runs that are backfilled over years: others leave it when they end.
	settings := scheduler.Settings{HistoryDays: 4 * 366}
	e, err := scheduler.Open(scheduler.Options{Log: m, Store: m, Sender: willing{}, Logger: Quiet, Settings: settings})
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan error, 1)
	go func() { done <- e.Serve(ctx) }()
	t.Cleanup(func() {
		cancel()
		if err := <-done; err != nil {
			t.Error(err)
		}
	})
	return e
}
