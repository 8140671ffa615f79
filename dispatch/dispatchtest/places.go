package dispatchtest

import (
	"testing"

	"github.com/carillon-io/carillon/job"
)

// fill takes all places of a lane and asks for one more. The channel that it returns is closed when that
// ask is called; the call returns keep.
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

// callsForPlace checks that a caller that found no place is called once, when a place is free, and then
// has it.
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

// takesBack checks that a place which a called caller does not accept becomes free again.
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

// placesOfTenants checks that a tenant which takes all its places at a target leaves those of another
// tenant free.
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

// placesOfTarget checks that a target with its own limit has that many places.
func placesOfTarget(t *testing.T, b Bed) {
	if b.Target.Kind == job.TargetNATS {
		return // has none of its own
	}
	b.Target.MaxInFlight, b.Places = 3, 3
	called := fill(t, b, delivery(b, 0), true)
	b.Sender.Release(delivery(b, 0).Lane(), len(delivery(b, 0).Payload))
	receive(t, called, "call when a place was given back")
}
