package dispatch

import (
	"maps"
	"slices"
	"testing"

	"github.com/nats-io/nats-server/v2/server"
	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"github.com/carillon-io/carillon/job"
	"github.com/carillon-io/carillon/testkit"
)

func TestDeadLetter(t *testing.T) {
	s := startNATS(t, nil)
	got := make(chan *nats.Msg, 2)
	subscribe(t, dial(t, s.ClientURL()), "carillon.dead.*", func(m *nats.Msg) { got <- m })
	a := startAnnouncer(t, AnnouncerOptions{}, s.ClientURL())
	announceAll(t, a, []Announcement{deadOf(0)})
	m := testkit.Receive(t, got)
	if m.Subject != "carillon.dead.acme" || string(m.Data) != `{"n":0}` {
		t.Errorf("subject %q has %q", m.Subject, m.Data)
	}
	want := nats.Header{
		"Nats-Msg-Id": {"0123abcd.0000000000007-1764576000000.900"}, "Carillon-Run-Id": {"0000000000007-1764576000000"},
		"Carillon-Job": {"billing/daily"}, "Carillon-Tenant": {"acme"}, "Carillon-Scheduled-At": {"2025-12-01T08:00:00.000Z"},
		"Carillon-Attempt": {"3"}, "Carillon-Fence": {"900"}, "Carillon-Status": {"dead"}, "Carillon-Error": {"HTTP 503: away"},
		"Carillon-Target": {"http https://example.com"}, "X-Team": {"billing"}, "traceparent": {"00-1"},
	}
	if !maps.EqualFunc(m.Header, want, slices.Equal) {
		t.Errorf("headers are %v", m.Header)
	}
}

// TestDeadLetterHeadersAreSafe has an error that tries to end its line, and one that only an attempt knows.
func TestDeadLetterHeadersAreSafe(t *testing.T) {
	s := startNATS(t, nil)
	got := make(chan *nats.Msg, 2)
	subscribe(t, dial(t, s.ClientURL()), "p.x.dead.acme", func(m *nats.Msg) { got <- m })
	a := startAnnouncer(t, AnnouncerOptions{Prefix: "p.x"}, s.ClientURL())
	bad, quiet := deadOf(0), deadOf(1)
	bad.Error = "line\r\nCarillon-Status: fine\x00\x7f\u2028end\xff\n"
	bad.Target = job.Target{Kind: job.TargetHandler, Handler: "a\nb"}
	quiet.Error, quiet.Attempts = "", []job.Attempt{{Error: "first"}, {Error: "second"}, {}}
	announceAll(t, a, []Announcement{bad, quiet})
	m := testkit.Receive(t, got)
	if text := m.Header.Get("Carillon-Error"); text != "line  Carillon-Status: fine   end\uFFFD" {
		t.Errorf("the error is %q", text)
	}
	if m.Header.Get("Carillon-Status") != "dead" || m.Header.Get("Carillon-Target") != "handler a b" {
		t.Errorf("headers are %v", m.Header)
	}
	if text := testkit.Receive(t, got).Header.Get("Carillon-Error"); text != "second" {
		t.Errorf("the error is %q", text)
	}
}

// TestDeadLetterTooLarge must not hold up what follows.
func TestDeadLetterTooLarge(t *testing.T) {
	s := startNATS(t, func(o *server.Options) { o.MaxPayload = 2048 })
	got := make(chan *nats.Msg, 2)
	subscribe(t, dial(t, s.ClientURL()), "carillon.dead.acme", func(m *nats.Msg) { got <- m })
	a := startAnnouncer(t, AnnouncerOptions{}, s.ClientURL())
	large := deadOf(0)
	large.Payload = make([]byte, 5000)
	announceAll(t, a, []Announcement{large, deadOf(1)})
	if m := testkit.Receive(t, got); len(m.Data) != 0 || m.Header.Get("Carillon-Payload-Omitted") != "5000" {
		t.Errorf("%d bytes with headers %v", len(m.Data), m.Header)
	}
	if m := testkit.Receive(t, got); string(m.Data) != `{"n":1}` || m.Header.Get("Carillon-Payload-Omitted") != "" {
		t.Errorf("the next one is %q with headers %v", m.Data, m.Header)
	}
}

// TestDeadLettersComeOnceIntoAStream has the stream that docs/operations.md proposes.
func TestDeadLettersComeOnceIntoAStream(t *testing.T) {
	s := startNATS(t, nil)
	addStream(t, dial(t, s.ClientURL()), jetstream.StreamConfig{Name: "DEAD", Subjects: []string{"carillon.dead.>"}})
	a := startAnnouncer(t, AnnouncerOptions{}, s.ClientURL())
	again := deadOf(0)
	again.Fence++ // it was retried by hand and died again
	announceAll(t, a, []Announcement{deadOf(0), deadOf(1), deadOf(0), again})
	testkit.Until(t, "the stream has them", func() bool { return len(stored(t, s.ClientURL(), "DEAD")) >= 3 })
	if n := len(stored(t, s.ClientURL(), "DEAD")); n != 3 {
		t.Errorf("the stream has %d messages; want 3", n)
	}
}
