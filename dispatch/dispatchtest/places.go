package dispatchtest

import (
	"testing"

	"github.com/carillon-io/carillon/job"
)

// fill takes all the places of a lane, and returns what shows the call for one more, which it has asked
// for. keep says what that call answers.
func fill(t *testing.T, b Bed, d *job.Delivery, keep bool) (called <-chan struct{}) {
	t.Helper()
	c := make(chan struct{}, 2)
	room := func() bool { c <- struct{}{}; return keep }
	for n := range b.Places {
		if !b.Sender.Reserve(d.Lane(), len(d.Payload), room) {
			t.Fatalf("there is no place after %d; want %d", n, b.Places)
		}
	}
	if b.Sender.Reserve(d.Lane(), len(d.Payload), room) {
		t.Fatalf("there are more than %d places", b.Places)
	}
	return c
}

// callsForPlace: who found no place is called, once, when one is free, and has it then.
func callsForPlace(t *testing.T, b Bed) {
	d := delivery(b, 0)
	called := fill(t, b, d, true)
	if len(called) > 0 {
		t.Fatal("called although all places are taken")
	}
	outcome := make(chan job.Outcome, 1)
	b.Sender.Launch(d, func(o job.Outcome) { outcome <- o })
	receive(t, outcome, "outcome")
	receive(t, called, "call when the attempt was over")
	other := make(chan struct{}, 1)
	if b.Sender.Reserve(d.Lane(), len(d.Payload), func() bool { other <- struct{}{}; return true }) {
		t.Fatal("the place is taken twice")
	}
	b.Sender.Release(d.Lane(), len(d.Payload))
	receive(t, other, "call when a place was given back")
	if len(called) > 0 {
		t.Error("called twice")
	}
}

// takesBack: a place that the one who is called for it does not take is free.
func takesBack(t *testing.T, b Bed) {
	d := delivery(b, 0)
	called := fill(t, b, d, false)
	b.Sender.Release(d.Lane(), len(d.Payload))
	receive(t, called, "call when a place was given back")
	taken := make(chan struct{}, 1)
	if !b.Sender.Reserve(d.Lane(), len(d.Payload), func() bool { taken <- struct{}{}; return true }) {
		receive(t, taken, "place that was not taken") // it was on its way back
	}
	for range b.Places {
		b.Sender.Release(d.Lane(), len(d.Payload))
	}
}

// placesOfTenants: a tenant who takes all places of a target leaves those of another tenant alone.
func placesOfTenants(t *testing.T, b Bed) {
	d := delivery(b, 0)
	fill(t, b, d, false)
	other := *d
	other.Tenant = "other"
	if !b.Sender.Reserve(other.Lane(), len(other.Payload), func() bool { return true }) {
		t.Fatal("another tenant finds no place")
	}
	outcome := make(chan job.Outcome, 1)
	b.Sender.Launch(&other, func(o job.Outcome) { outcome <- o })
	if o := receive(t, outcome, "outcome"); o.Error != "" {
		t.Errorf("the attempt of another tenant has error %q", o.Error)
	}
}

// placesOfTarget: a target has as many places as it says.
func placesOfTarget(t *testing.T, b Bed) {
	if b.Target.Kind == job.TargetNATS {
		return // has none of its own
	}
	b.Target.MaxInFlight, b.Places = 3, 3
	called := fill(t, b, delivery(b, 0), true)
	b.Sender.Release(delivery(b, 0).Lane(), len(delivery(b, 0).Payload))
	receive(t, called, "call when a place was given back")
}
