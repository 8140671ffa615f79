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

// Job is the Go client's type of a job. Its Target is [Call] of a handler, or has the kind "http".
type Job = client.Job

// Call returns the target that calls a handler.
func Call(handler string) client.Target { return client.Target{Kind: "handler", Name: handler} }

// Run is the argument of a handler: one attempt of one run. The handler must not change it.
type Run struct {
	ID          string // the same for every attempt of the run
	Job         string // the name of the job
	ScheduledAt time.Time
	Manual      bool   // fired by a trigger or a backfill, not by the schedule
	Attempt     uint32 // number of the attempt, from 1
	Fence       uint64 // each attempt of any run has a higher one than those before
	Payload     []byte // JSON text if the job has a JSON payload, otherwise its bytes
	Headers     map[string]string
	Timeout     time.Duration // of this attempt
}

// Handler carries out an attempt. It is called concurrently and may use the scheduler. If it returns
// nil, the run has succeeded. After an error, a panic or the end of its context the attempt has failed,
// and another one follows as the job's retry policy says; an error of [Refuse] or [RetryAfter]
// influences that.
//
// The context ends at the attempt's timeout, when the run is cancelled, and when [Scheduler.Close] no
// longer waits. The attempt of a handler that ignores this has failed all the same, but occupies one of
// the places of Options.Concurrency until the handler returns.
//
// If the job has Completion "reported", nil says only that the handler has accepted the work: the run is
// in progress until [client.Client.Report] is called with the run's ID and Fence, or until the attempt's
// timeout.
type Handler func(ctx context.Context, run Run) error

// Refuse marks err as final: another attempt would fail in the same way, so the run is retried only if
// its job has Retry.ClientErrors. Refuse(nil) returns nil.
func Refuse(err error) error { return dispatch.Refuse(err) }

// RetryAfter returns err as an error after which the next attempt begins at the earliest d later; of a d of more than a day,
// a day counts. For longer pauses set the job's Retry.InitialInterval and Retry.MaxInterval.
// RetryAfter(nil, d) returns nil.
func RetryAfter(err error, d time.Duration) error { return dispatch.RetryAfter(err, d) }

// Handle adds a handler. It returns an error if the name is invalid or in use, or if h is nil.
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
	if job.ValidateName(name) != nil { // names of handlers have the form of jobs' names
		return fmt.Errorf("embedded: %q is not a name for a handler; want 1 to %d of A-Z a-z 0-9 . _ - /", name, job.HandlerBytesMax)
	}
	if h == nil {
		return fmt.Errorf("embedded: handler %q is nil", name)
	}
	return nil
}

// guard wraps a handler for the dispatcher, so that a panic ends the attempt and not the program.
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

// runOf returns the argument of a handler for a delivery.
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
