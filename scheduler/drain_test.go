package scheduler

import (
	"context"
	"testing"
	"time"

	"github.com/carillon-io/carillon/job"
	"github.com/carillon-io/carillon/testkit"
)

// patientSender confirms an attempt only when it is asked to hurry, and not at the first time: the attempt had just begun.
type patientSender struct {
	Boundless
	launched, hurried chan func()
}

// Cancel implements Sender.
func (*patientSender) Cancel(job.RunID) {}

// Launch implements Sender.
func (s *patientSender) Launch(d *job.Delivery, done func(job.Outcome)) {
	s.launched <- func() { done(job.Outcome{Run: d.Run, Attempt: d.Attempt, LaunchedAt: time.Now()}) }
}

// Hurry is what [dispatch.Dispatcher] has.
func (s *patientSender) Hurry() {
	select {
	case end := <-s.hurried:
		end()
	case end := <-s.launched:
		s.hurried <- end
	default:
	}
}

// TestSettleHurries: an engine that settles asks its sender again and again to confirm what is under way.
func TestSettleHurries(t *testing.T) {
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	sender := &patientSender{launched: make(chan func(), 1), hurried: make(chan func(), 1)}
	r := &restless{log: &stillLog{}, served: make(chan error, 1)}
	r.Engine = must(Open(Options{Log: r.log, Store: newMemStore(), Sender: sender}))
	go func() { r.served <- r.Serve(ctx) }()
	if _, _, err := r.Put(ctx, oneShot("a", 0), nil); err != nil {
		t.Fatal(err)
	}
	if !testkit.Poll(ctx, func() bool { return len(sender.launched) == 1 }) {
		t.Fatal("the run does not leave")
	}
	r.Drain(ctx)
	if n := r.Status().Succeeded; n != 1 || ctx.Err() != nil {
		t.Errorf("%d runs have succeeded after the engine settled, want 1 (%v)", n, ctx.Err())
	}
	cancel()
	if err := <-r.served; err != nil {
		t.Error(err)
	}
}
