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

// startPatient starts an engine with such a sender, until ctx ends.
func startPatient(ctx context.Context) (*restless, *patientSender) {
	sender := &patientSender{launched: make(chan func(), 1), hurried: make(chan func(), 1)}
	r := &restless{log: &stillLog{}, served: make(chan error, 1)}
	r.Engine = must(Open(Options{Log: r.log, Store: newMemStore(), Sender: sender}))
	go func() { r.served <- r.Serve(ctx) }()
	return r, sender
}

// launches registers a job, and returns when its run has left.
func (r *restless) launches(t *testing.T, sender *patientSender, def *job.Definition) {
	t.Helper()
	if _, _, err := r.Put(t.Context(), def, nil); err != nil {
		t.Fatal(err)
	}
	testkit.Until(t, "the run leaves", func() bool { return len(sender.launched) == 1 })
}

// TestSettleHurries: an engine that settles asks its sender again and again to confirm what is under way.
func TestSettleHurries(t *testing.T) {
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	r, sender := startPatient(ctx)
	r.launches(t, sender, oneShot("a", 0))
	r.Drain(ctx)
	if n := r.Status().Succeeded; n != 1 || ctx.Err() != nil {
		t.Errorf("%d runs have succeeded after the engine settled, want 1 (%v)", n, ctx.Err())
	}
	cancel()
	if err := <-r.served; err != nil {
		t.Error(err)
	}
}

// TestSettleSent: whoever cannot wait for targets waits for the answers of NATS, and learns how many attempts have none.
func TestSettleSent(t *testing.T) {
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	r, sender := startPatient(ctx)
	slow := oneShot("slow", 0)
	slow.Target = job.Target{Kind: job.TargetRequest, Subject: "out"}
	r.launches(t, sender, slow)
	unanswered := <-sender.launched // its target does not answer
	r.launches(t, sender, oneShot("sent", 0))
	r.Hold()
	if n := r.SettleSent(ctx); n != 1 || ctx.Err() != nil {
		t.Errorf("%d attempts have no answer, want that of the request alone (%v)", n, ctx.Err())
	}
	unanswered()
	r.Settle(ctx)
	if n := r.Status().Succeeded; n != 2 || ctx.Err() != nil {
		t.Errorf("%d runs have succeeded, want 2 (%v)", n, ctx.Err())
	}
	cancel()
	if err := <-r.served; err != nil {
		t.Error(err)
	}
}
