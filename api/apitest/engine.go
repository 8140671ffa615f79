// Package apitest is what the tests of the API and of its ways in share: an engine in memory, one with canned answers, a
// NATS server, requests that must be refused, and a checker of JSON schemas. It is for tests, and knows nothing of package
// api.
//
// bad.go sends a bad request and checks its refusal, the other bad_*.go list them; conform.go checks replies
// against schemas, desk.go has the engine with canned answers and engine.go the real one in memory, jobs.go makes
// definitions, nats.go runs a server of NATS, and wait.go bounds the wait for slow callers.
//
// It is no _test file because packages api and web both use it. No package of the product imports it.
package apitest

import (
	"context"
	"log/slog"
	"testing"
	"time"

	"github.com/carillon-io/carillon/job"
	"github.com/carillon-io/carillon/memory"
	"github.com/carillon-io/carillon/scheduler"
)

// Quiet is a logger for what tests provoke.
var Quiet = slog.New(slog.DiscardHandler)

// willing is a sender whose targets take everything at once.
type willing struct{ scheduler.Boundless }

// Cancel implements scheduler.Sender: nothing takes long enough to be cancelled.
func (willing) Cancel(job.RunID) {}

// Launch implements scheduler.Sender. It answers from another goroutine: done must be called after Launch has
// returned, because the launch pad holds a lock during the call.
func (willing) Launch(d *job.Delivery, done func(job.Outcome)) {
	go done(job.Outcome{Run: d.Run, Attempt: d.Attempt, LaunchedAt: time.Now(), Duration: time.Millisecond})
}

// StartEngine runs a real engine for the length of a test. Its log and its store are in memory, so tests need no
// directory and no fsync. The end of the test stops it and reports an error with which it ended.
func StartEngine(t testing.TB) *scheduler.Engine {
	t.Helper()
	// A history long enough for runs that are backfilled over years: others leave it when they end.
	settings := scheduler.Settings{HistoryDays: 4 * 366}
	e, err := scheduler.Open(scheduler.Options{Log: new(memory.Log), Store: new(memory.Store), Sender: willing{}, Logger: Quiet, Settings: settings})
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
