package embedded_test

import (
	"context"
	"log/slog"
	"os"
	"testing"
	"time"

	"github.com/carillon-io/carillon/client"
	"github.com/carillon-io/carillon/embedded"
	"github.com/carillon-io/carillon/testkit"
)

func TestMain(m *testing.M) {
	if dir := os.Getenv(victimDir); dir != "" {
		beVictim(dir)
		return
	}
	os.Exit(m.Run())
}

type handlers = map[string]embedded.Handler

func succeed(context.Context, embedded.Run) error { return nil }

// open opens a directory until the test ends.
func open(t *testing.T, dir string, opts embedded.Options) *embedded.Scheduler {
	t.Helper()
	opts.Logger = slog.New(slog.DiscardHandler)
	s, err := embedded.Open(dir, opts)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.Close(t.Context()) }) // t.Context has ended: nothing is waited for
	return s
}

func mustClose(t *testing.T, s *embedded.Scheduler) {
	t.Helper()
	if err := s.Close(context.Background()); err != nil {
		t.Fatal(err)
	}
}

// yearly is a job whose runs are all triggered.
func yearly(name, handler string) embedded.Job {
	return embedded.Job{Name: name, Schedule: "@yearly", Target: embedded.Call(handler)}
}

// putter is what the schedulers of programs and of tests have in common.
type putter interface {
	Put(ctx context.Context, j embedded.Job) (client.JobInfo, bool, error)
	Trigger(ctx context.Context, request client.TriggerRequest) (client.Run, error)
}

func put(t *testing.T, s putter, j embedded.Job) client.JobInfo {
	t.Helper()
	info, _, err := s.Put(t.Context(), j)
	if err != nil {
		t.Fatal(err)
	}
	return info
}

func trigger(t *testing.T, s putter, name string) client.Run {
	t.Helper()
	run, err := s.Trigger(t.Context(), client.TriggerRequest{Name: name})
	if err != nil {
		t.Fatal(err)
	}
	return run
}

// runWith waits until a run has a status.
func runWith(t *testing.T, s *embedded.Scheduler, id, status string) (run client.Run) {
	t.Helper()
	testkit.Until(t, "run "+id+" is "+status, func() bool {
		var err error
		if run, err = s.Run(context.Background(), id); err != nil {
			t.Fatal(err)
		}
		return run.Status == status
	})
	return run
}

// soon is a retry that comes at once.
func soon(attempts uint32) client.Retry {
	return client.Retry{MaxAttempts: attempts, InitialInterval: client.Duration(100 * time.Millisecond)}
}
