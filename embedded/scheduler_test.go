package embedded_test

import (
	"context"
	"errors"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/carillon-io/carillon/client"
	"github.com/carillon-io/carillon/embedded"
	"github.com/carillon-io/carillon/testkit"
)

// TestOneOwner: a directory has one scheduler at a time.
func TestOneOwner(t *testing.T) {
	dir := t.TempDir()
	first := open(t, dir, embedded.Options{})
	if s, err := embedded.Open(dir, embedded.Options{}); !errors.Is(err, embedded.ErrInUse) || !strings.Contains(err.Error(), dir) {
		t.Fatalf("a second scheduler: %v, %v", s, err)
	}
	mustClose(t, first)
	mustClose(t, open(t, dir, embedded.Options{}))
}

// TestNodeOfAClusterIsRefused, and left as it is.
func TestNodeOfAClusterIsRefused(t *testing.T) {
	for _, name := range []string{"NODE", "JOINING"} {
		dir := t.TempDir()
		if err := os.WriteFile(filepath.Join(dir, name), []byte("{}"), 0o600); err != nil {
			t.Fatal(err)
		}
		if _, err := embedded.Open(dir, embedded.Options{}); err == nil || !strings.Contains(err.Error(), name) {
			t.Errorf("%s: %v", name, err)
		}
		if left, err := os.ReadDir(dir); err != nil || len(left) != 1 {
			t.Errorf("%s: something was made: %v, %v", name, left, err)
		}
	}
}

func TestBadOptions(t *testing.T) {
	for want, o := range map[string]embedded.Options{
		"tenant":                              {Tenant: "a.b"},
		"By is":                               {By: "a\nb"},
		"CheckpointEvery":                     {CheckpointEvery: time.Millisecond},
		"payload":                             {PayloadBytesMax: -1},
		"lead":                                {Lead: time.Hour},
		"Concurrency":                         {Concurrency: -1},
		"HistoryDays is -1;":                  {HistoryDays: -1},
		"HistoryDays is 36501;":               {HistoryDays: 36_501},
		"HistoryDays is 9223372036854775807;": {HistoryDays: math.MaxInt},
		`"x" is nil`:                          {Handlers: handlers{"x": nil}},
		`"" is no`:                            {Handlers: handlers{"": succeed}},
	} {
		if _, err := embedded.Open(t.TempDir(), o); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", want, err)
		}
	}
}

// TestDirectoryWithoutAName is refused, and nothing is made where the program runs.
func TestDirectoryWithoutAName(t *testing.T) {
	t.Chdir(t.TempDir())
	_, err := embedded.Open("", embedded.Options{})
	testkit.Refuses(t, err, "the name of the directory is empty")
	if left, err := os.ReadDir("."); err != nil || len(left) != 0 {
		t.Errorf("something was made: %v, %v", left, err)
	}
}

// TestPanicFailsTheAttempt and nothing else: the next one succeeds.
func TestPanicFailsTheAttempt(t *testing.T) {
	s := open(t, t.TempDir(), embedded.Options{Handlers: handlers{
		"shaky": func(_ context.Context, run embedded.Run) error {
			if run.Attempt == 1 {
				panic("boom")
			}
			return nil
		},
	}})
	j := yearly("a", "shaky")
	j.Retry = soon(2)
	put(t, s, j)
	run := runWith(t, s, trigger(t, s, "a").RunID, "succeeded")
	if len(run.Attempts) != 2 || run.Attempts[0].Error != `handler "shaky" panicked: boom` || run.Attempts[0].Fence >= run.Attempts[1].Fence {
		t.Errorf("the run is %+v", run)
	}
}

// TestSlowHandlerHoldsOnlyItself: one handler hangs under full load, and another is as quick as ever.
func TestSlowHandlerHoldsOnlyItself(t *testing.T) {
	let := make(chan struct{})
	s := open(t, t.TempDir(), embedded.Options{Concurrency: 2, Handlers: handlers{
		"slow":  func(context.Context, embedded.Run) error { <-let; return nil },
		"quick": succeed,
	}})
	j := yearly("slow", "slow")
	j.OverlapPolicy = "allow"
	put(t, s, j)
	put(t, s, yearly("quick", "quick"))
	var slow []string
	for range 10 {
		slow = append(slow, trigger(t, s, "slow").RunID)
	}
	runWith(t, s, trigger(t, s, "quick").RunID, "succeeded")
	close(let)
	for _, id := range slow {
		runWith(t, s, id, "succeeded")
	}
}

// TestTimeoutEndsTheContext, and so does a cancellation.
func TestTimeoutEndsTheContext(t *testing.T) {
	ended := make(chan error, 1)
	began := make(chan struct{}, 1)
	s := open(t, t.TempDir(), embedded.Options{Handlers: handlers{
		"waits": func(ctx context.Context, _ embedded.Run) error {
			began <- struct{}{}
			<-ctx.Done()
			ended <- ctx.Err()
			return ctx.Err()
		},
	}})
	j := yearly("timeout", "waits")
	j.AttemptTimeout, j.Retry = client.Duration(100*time.Millisecond), soon(1)
	put(t, s, j)
	run := trigger(t, s, "timeout")
	testkit.Receive(t, began)
	testkit.Receive(t, ended)
	if run = runWith(t, s, run.RunID, "dead"); run.Error != "no answer within 100ms" {
		t.Errorf("the run ended with %q", run.Error)
	}

	put(t, s, yearly("cancelled", "waits"))
	run = trigger(t, s, "cancelled")
	testkit.Receive(t, began)
	if _, err := s.CancelRun(t.Context(), run.RunID); err != nil {
		t.Fatal(err)
	}
	testkit.Receive(t, ended)
	runWith(t, s, run.RunID, "cancelled")
}

// TestCloseWaits for a handler that returns in time; its outcome is recorded.
func TestCloseWaits(t *testing.T) {
	dir := t.TempDir()
	began, let := make(chan struct{}), make(chan struct{})
	opts := embedded.Options{Handlers: handlers{"h": func(ctx context.Context, _ embedded.Run) error {
		close(began)
		<-let
		return ctx.Err()
	}}}
	s := open(t, dir, opts)
	put(t, s, yearly("a", "h"))
	run := trigger(t, s, "a")
	testkit.Receive(t, began)
	closed := make(chan error, 1)
	go func() { closed <- s.Close(context.Background()) }()
	close(let)
	if err := testkit.Receive(t, closed); err != nil {
		t.Fatal(err)
	}
	if err := s.Wait(); err != nil {
		t.Error(err)
	}
	if _, err := s.Get(t.Context(), "a"); !errors.Is(err, client.CodeUnavailable) {
		t.Errorf("a read after Close: %v", err)
	}
	if _, _, err := s.Put(t.Context(), yearly("b", "h")); !errors.Is(err, client.CodeUnavailable) {
		t.Errorf("a put after Close: %v", err)
	}
	runWith(t, open(t, dir, opts), run.RunID, "succeeded")
}

// TestCloseCuts what does not return in time: its context ends, and the run is handed out again by the next
// Open.
func TestCloseCuts(t *testing.T) {
	dir := t.TempDir()
	began := make(chan embedded.Run, 1)
	var returned atomic.Bool
	s := open(t, dir, embedded.Options{Handlers: handlers{"h": func(ctx context.Context, run embedded.Run) error {
		began <- run
		<-ctx.Done()
		<-time.After(30 * time.Millisecond) // it puts its things away
		returned.Store(true)
		return ctx.Err()
	}}})
	put(t, s, yearly("a", "h"))
	trigger(t, s, "a")
	first := testkit.Receive(t, began)
	ctx, cancel := context.WithTimeout(context.Background(), 20*time.Millisecond)
	defer cancel()
	if err := s.Close(ctx); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("Close returned %v; want it to tell of the cut", err)
	}
	if !returned.Load() {
		t.Error("Close did not wait for the handler whose context it had ended")
	}

	s = open(t, dir, embedded.Options{Handlers: handlers{"h": func(_ context.Context, run embedded.Run) error {
		began <- run
		return nil
	}}})
	if second := testkit.Receive(t, began); second.ID != first.ID || second.Fence <= first.Fence {
		t.Errorf("handed out again: %+v after %+v", second, first)
	}
	runWith(t, s, first.ID, "succeeded")
}

// TestUnknownHandler: a job needs a handler when it is put, and an attempt when it is launched.
func TestUnknownHandler(t *testing.T) {
	dir := t.TempDir()
	s := open(t, dir, embedded.Options{Handlers: handlers{"beta": succeed}})
	if err := s.Handle("alpha", succeed); err != nil {
		t.Fatal(err)
	}
	if err := s.Handle("alpha", succeed); err == nil || !strings.Contains(err.Error(), `"alpha" already`) {
		t.Errorf("a handler twice: %v", err)
	}
	_, _, err := s.Put(t.Context(), yearly("a", "alfa"))
	if !errors.Is(err, client.CodeInvalidTarget) || !strings.Contains(err.Error(), `no handler "alfa" is registered; there are alpha, beta`) {
		t.Errorf("an unknown handler: %v", err)
	}
	many, err := s.PutMany(t.Context(), []embedded.Job{yearly("a", "alpha"), yearly("b", "alfa")})
	if err != nil || many.Accepted != 1 || many.Results[1].Error == nil || many.Results[1].Error.Code != client.CodeInvalidTarget {
		t.Errorf("PutMany: %+v, %v", many, err)
	}
	j := yearly("a", "alpha")
	j.Target = client.Target{Kind: "nats", Subject: "a.b"}
	if _, _, err := s.Put(t.Context(), j); !errors.Is(err, client.CodeInvalidTarget) || !strings.Contains(err.Error(), "needs NATS") {
		t.Errorf("a NATS subject: %v", err)
	}
	mustClose(t, s)

	// The next version of the program has another handler first, and the right one later.
	s = open(t, dir, embedded.Options{Handlers: handlers{"beta": succeed}})
	run := trigger(t, s, "a")
	testkit.Until(t, "an attempt has failed", func() bool {
		run, err = s.Run(t.Context(), run.RunID)
		return err != nil || len(run.Attempts) > 0
	})
	if err != nil || run.Attempts[0].Error != `no handler "alpha" is registered here` {
		t.Fatalf("without the handler: %+v, %v", run, err)
	}
	if err := s.Handle("alpha", succeed); err != nil {
		t.Fatal(err)
	}
	runWith(t, s, run.RunID, "succeeded") // the default policy comes back after a second
}

// TestGoroutinesEnd with the scheduler.
func TestGoroutinesEnd(t *testing.T) {
	before := runtime.NumGoroutine()
	for range 3 {
		s := open(t, t.TempDir(), embedded.Options{Handlers: handlers{"h": succeed}})
		put(t, s, yearly("a", "h"))
		runWith(t, s, trigger(t, s, "a").RunID, "succeeded")
		mustClose(t, s)
		clock := newTest(t, embedded.Options{Handlers: handlers{"h": succeed}})
		put(t, clock, yearly("a", "h"))
		clock.Advance(366 * 24 * time.Hour)
		if err := clock.Close(); err != nil {
			t.Fatal(err)
		}
	}
	testkit.Until(t, "the goroutines have ended", func() bool { return runtime.NumGoroutine() <= before })
}

// TestNoServerInside: who embeds the scheduler does not link a NATS server.
func TestNoServerInside(t *testing.T) {
	out, err := exec.Command("go", "list", "-deps", ".").Output()
	if err != nil {
		t.Skip("there is no go command here: ", err)
	}
	for line := range strings.Lines(string(out)) {
		if strings.HasPrefix(line, "github.com/nats-io/nats-server") || strings.TrimSpace(line) == "github.com/carillon-io/carillon/server" {
			t.Errorf("the package depends on %s", line)
		}
	}
}
