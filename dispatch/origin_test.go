package dispatch

import (
	"testing"

	"github.com/nats-io/nats.go/jetstream"

	"github.com/carillon-io/carillon/job"
	"github.com/carillon-io/carillon/testkit"
)

// TestOriginsAreKeptApart announces the same places of two outboxes, and of one whose files were put back, into one
// stream: each change is in it. What one origin announces again is left out, and counted.
func TestOriginsAreKeptApart(t *testing.T) {
	s := startNATS(t, nil)
	addStream(t, dial(t, s.ClientURL()), jetstream.StreamConfig{Name: "DEAD", Subjects: []string{"carillon.dead.>"}})
	other := withEvents
	other.Origin = "4567ef"
	one, two := startAnnouncer(t, withEvents, s.ClientURL()), startAnnouncer(t, other, s.ClientURL())
	batch := []Announcement{eventOf(0), eventOf(1), deadOf(2)}
	later := eventOf(1)
	later.At += 1000 // another change in the same place
	announceAll(t, one, batch)
	announceAll(t, two, batch)
	announceAll(t, two, []Announcement{later})
	announceAll(t, one, batch)
	if n := len(stored(t, s.ClientURL(), "CARILLON_EVENTS")); n != 5 {
		t.Errorf("the stream has %d events; want 5", n)
	}
	testkit.Until(t, "the dead letters are stored", func() bool { return len(stored(t, s.ClientURL(), "DEAD")) >= 2 })
	if n := len(stored(t, s.ClientURL(), "DEAD")); n != 2 {
		t.Errorf("the stream has %d dead letters; want 2", n)
	}
	if a, b := one.Duplicates(), two.Duplicates(); a != 2 || b != 0 {
		t.Errorf("%d and %d duplicates are counted; want 2 and 0", a, b)
	}
}

// TestDuplicateRunsAreCounted sends a run twice to a stream: it is there once, and both attempts succeed.
func TestDuplicateRunsAreCounted(t *testing.T) {
	s := startNATS(t, nil)
	addStream(t, dial(t, s.ClientURL()), jetstream.StreamConfig{Name: "OUT", Subjects: []string{"out"}})
	d := start(t, Options{}, s.ClientURL())
	for range 2 {
		if o := testkit.Receive(t, launch(d, deliveryTo(job.Target{Kind: job.TargetJetStream, Subject: "out"}, 0))); o.Error != "" {
			t.Error(o.Error)
		}
	}
	if n := d.Stats().NATS.Duplicates; n != 1 || len(stored(t, s.ClientURL(), "OUT")) != 1 {
		t.Errorf("%d duplicates are counted; want 1", n)
	}
}
