package dispatch

import (
	"encoding/json"
	"testing"

	"github.com/carillon-io/carillon/job"
	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"
)

func TestEvents(t *testing.T) {
	s := startNATS(t, nil)
	a := startAnnouncer(t, withEvents, s.ClientURL())
	skipped, both := eventOf(1), deadOf(2)
	skipped.Status, skipped.Reason, skipped.Until = job.StatusSkipped, job.ReasonMissed, 1764576060000
	skipped.Attempt, skipped.Fence = 0, 0
	both.Event = true
	both.Error = "say \"<no>\"\n"
	announceAll(t, a, []Announcement{eventOf(0), skipped, both})
	messages := stored(t, s.ClientURL(), "CARILLON_EVENTS")
	want := []struct{ subject, id, body string }{
		{"carillon.events.acme.run.running", "0123abcd.900-0.1764576001000", `{"event":"run.running","at":"2025-12-01T08:00:01.000Z","run_id":"0000000000007-1764576000000",` +
			`"job":"billing/daily","tenant":"acme","scheduled_at":"2025-12-01T08:00:00.000Z","status":"running","attempt":1,"fence":900}`},
		{"carillon.events.acme.run.skipped", "0123abcd.900-1.1764576001000", `{"event":"run.skipped","at":"2025-12-01T08:00:01.000Z","run_id":"0000000000007-1764576000001",` +
			`"job":"billing/daily","tenant":"acme","scheduled_at":"2025-12-01T08:00:00.001Z","until":"2025-12-01T08:01:00.000Z","status":"skipped","reason":"missed","attempt":0,"fence":0}`},
		{"carillon.events.acme.run.dead", "0123abcd.900-2.1764576001000", `{"event":"run.dead","at":"2025-12-01T08:00:01.000Z","run_id":"0000000000007-1764576000002",` +
			`"job":"billing/daily","tenant":"acme","scheduled_at":"2025-12-01T08:00:00.002Z","status":"dead","attempt":3,"fence":900,"error":"say \"<no>\"\n"}`},
	}
	if len(messages) != len(want) {
		t.Fatalf("the stream has %d messages; want %d", len(messages), len(want))
	}
	for i, m := range messages {
		if m.Subject != want[i].subject || m.Header.Get(nats.MsgIdHdr) != want[i].id || string(m.Data) != want[i].body {
			t.Errorf("message %d: %s %s %s", i, m.Subject, m.Header.Get(nats.MsgIdHdr), m.Data)
		}
		if !json.Valid(m.Data) {
			t.Errorf("message %d is no JSON", i)
		}
	}
}

// TestEventsComeOnce announces more than a round, again and again: the stream has each once, in order.
func TestEventsComeOnce(t *testing.T) {
	s := startNATS(t, nil)
	a := startAnnouncer(t, withEvents, s.ClientURL())
	batch := announcements(3*roundMax+1, eventOf)
	announceAll(t, a, batch)
	announceAll(t, a, batch[roundMax/2:])
	messages := stored(t, s.ClientURL(), "CARILLON_EVENTS")
	if len(messages) != len(batch) {
		t.Fatalf("the stream has %d messages; want %d", len(messages), len(batch))
	}
	for i, m := range messages {
		if id := m.Header.Get(nats.MsgIdHdr); id != eventID(testOrigin, &batch[i]) {
			t.Fatalf("message %d is %s", i, id)
		}
	}
}

// TestEventsTurnedOff lets notices of events pass, of which an earlier setting may have left some.
func TestEventsTurnedOff(t *testing.T) {
	s := startNATS(t, nil)
	a := startAnnouncer(t, AnnouncerOptions{}, s.ClientURL())
	if err := a.Prepare(t.Context()); err != nil {
		t.Error(err)
	}
	announceAll(t, a, announcements(3, eventOf))
	announceAll(t, a, []Announcement{{Notice: job.Notice{Tenant: "acme"}}})
	announceAll(t, a, nil)
	js, err := jetstream.New(dial(t, s.ClientURL()))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := js.Stream(t.Context(), "CARILLON_EVENTS"); err == nil {
		t.Error("a stream was made")
	}
}
