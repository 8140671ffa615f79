package dispatchtest

import (
	"testing"

	"github.com/carillon-io/carillon/job"
)

// stalled fills all places with launches at a target that does not accept or answer them.
func stalled(b Bed) (outcomes []<-chan job.Outcome) {
	b.Stall()
	for n := range b.Places {
		outcomes = append(outcomes, launch(b, delivery(b, n)))
	}
	return outcomes
}

// wantCancelled waits for the outcome of a launch that was cancelled.
func wantCancelled(t *testing.T, b Bed, n int, outcome <-chan job.Outcome) {
	t.Helper()
	o, d := receive(t, outcome, "outcome of a cancelled launch"), delivery(b, n)
	if o.Run != d.Run || o.Attempt != d.Attempt || o.Error != "cancelled" {
		t.Errorf("launch %d of run %s is cancelled and has outcome %+v", n, d.Run, o)
	}
}

// wantStopped closes the sender at once and checks that each launch gets one outcome. had lists the
// launches that already have theirs.
func wantStopped(t *testing.T, b Bed, outcomes []<-chan job.Outcome, had ...int) {
	t.Helper()
	closeAtOnce(b)
	want := make([]int, len(outcomes))
	for n := range want {
		want[n] = 1
	}
	for _, n := range had {
		want[n] = 0
	}
	for n, c := range outcomes {
		if len(c) != want[n] {
			t.Fatalf("launch %d has %d more outcomes; want %d", n, len(c), want[n])
		}
	}
}

func cancelsOne(t *testing.T, b Bed) {
	outcomes := stalled(b)
	b.Sender.Cancel(delivery(b, 0).Run)
	wantCancelled(t, b, 0, outcomes[0])
	wantStopped(t, b, outcomes, 0)
}

func cancelsSeveral(t *testing.T, b Bed) {
	outcomes, last := stalled(b), b.Places-1
	b.Sender.Cancel(delivery(b, last).Run)
	b.Sender.Cancel(delivery(b, last/2).Run)
	wantCancelled(t, b, last, outcomes[last])
	wantCancelled(t, b, last/2, outcomes[last/2])
	wantStopped(t, b, outcomes, last, last/2)
}

func cancelsUnknown(t *testing.T, b Bed) {
	d := delivery(b, 0)
	b.Sender.Cancel(d.Run) // not launched yet, so it is unknown
	b.Sender.Cancel(job.RunID{})
	if o := receive(t, launch(b, d), "outcome"); o.Error != "" {
		t.Errorf("a launch after Cancel has error %q", o.Error)
	}
}

func cancelsTooLate(t *testing.T, b Bed) {
	d := delivery(b, 0)
	outcome := launch(b, d)
	if o := receive(t, outcome, "outcome"); o.Error != "" {
		t.Errorf("outcome has error %q", o.Error)
	}
	b.Sender.Cancel(d.Run)
	again := *d
	again.Attempt++
	if o := receive(t, launch(b, &again), "outcome"); o.Error != "" || o.Attempt != again.Attempt {
		t.Errorf("the next attempt of a run that was cancelled too late has outcome %+v", o)
	}
	closeNow(t, b)
	if len(outcome) > 0 {
		t.Errorf("a second outcome: %+v", <-outcome)
	}
}
