package embedded

import (
	"context"
	"fmt"
	"log/slog"
	"runtime/debug"
	"time"

	"github.com/carillon-io/carillon/client"
	"github.com/carillon-io/carillon/dispatch"
	"github.com/carillon-io/carillon/job"
)

// Job is a job as the Go client knows it. Its Target is [Call] of a handler, or of kind "http".
type Job = client.Job

// Call is the target that calls a handler.
func Call(handler string) client.Target { return client.Target{Kind: "handler", Name: handler} }

// Run is what a handler gets: one attempt of one run. It must not be changed.
type Run struct {
	ID          string // the same for every attempt
	Job         string // the name of the job
	ScheduledAt time.Time
	Manual      bool   // asked for by a trigger or a backfill
	Attempt     uint32 // from 1
	Fence       uint64 // grows with each attempt of any run
	Payload     []byte // JSON text if the job has a JSON payload
	Headers     map[string]string
	Timeout     time.Duration // of this attempt
}

// Handler carries an attempt out. It is called from many goroutines, and may use the scheduler. Nil ends
// the run well; an error, a panic or the end of the context fail the attempt, which is then
// followed by another as the job's retry policy says. [Refuse] and [RetryAfter] make errors that have a say in that.
//
// The context ends with the attempt's timeout, when the run is cancelled, and when [Scheduler.Close]
// waits no longer. A handler that ignores it counts as failed all the same, and keeps its place among the
// attempts that run at a time until it returns.
//
// With Completion "reported" in the job, nil says only that the work was taken over: the run goes on until
// [client.Client.Report] is called with the run's ID and Fence, at most for the attempt's timeout.
type Handler func(ctx context.Context, run Run) error

// Refuse returns err as one that says that another attempt would fail alike: the run is retried only if
// its job has Retry.ClientErrors. Refuse(nil) is nil.
func Refuse(err error) error { return dispatch.Refuse(err) }

// RetryAfter returns err as one that puts the next attempt off for d at least. RetryAfter(nil, d) is nil.
func RetryAfter(err error, d time.Duration) error { return dispatch.RetryAfter(err, d) }

// Handle adds a handler. It is an error if there is one of that name already, if the name is none, or if h
// is nil.
func (s *Scheduler) Handle(name string, h Handler) error {
	if err := checkHandler(name, h); err != nil {
		return err
	}
	if err := s.dispatcher.Handle(name, s.guard(name, h)); err != nil {
		return fmt.Errorf("embedded: %w", err)
	}
	return nil
}

func checkHandler(name string, h Handler) error {
	if job.ValidateName(name) != nil { // names of jobs and of handlers have the same form
		return fmt.Errorf("embedded: %q is no name of a handler; want 1 to %d of A-Z a-z 0-9 . _ - /", name, job.HandlerBytesMax)
	}
	if h == nil {
		return fmt.Errorf("embedded: handler %q is nil", name)
	}
	return nil
}

// guard makes a handler one that the dispatcher can call: a panic ends the attempt, not the program.
func (s *Scheduler) guard(name string, h Handler) dispatch.Handler {
	return func(ctx context.Context, d *job.Delivery) (err error) {
		s.handling.Add(1)
		defer s.handling.Add(-1)
		defer func() {
			if p := recover(); p != nil {
				err = fmt.Errorf("handler %q panicked: %v", name, p)
				attrs := append(d.LogAttrs(), slog.String("handler", name), slog.Any("panic", p), slog.String("stack", string(debug.Stack())))
				s.opts.Logger.LogAttrs(ctx, slog.LevelError, "a handler panicked", attrs...)
			}
		}()
		return h(ctx, runOf(d))
	}
}

func runOf(d *job.Delivery) Run {
	r := Run{
		ID: d.Run.String(), Job: d.Name, ScheduledAt: d.Run.At.Time(), Manual: d.Run.IsManual(),
		Attempt: d.Attempt, Fence: d.Fence, Payload: d.Payload, Timeout: d.Timeout,
	}
	if len(d.Headers) > 0 {
		r.Headers = make(map[string]string, len(d.Headers))
		for _, h := range d.Headers {
			r.Headers[h.Key] = h.Value
		}
	}
	return r
}
