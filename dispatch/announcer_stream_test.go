package dispatch

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/nats-io/nats-server/v2/server"
	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"
)

func TestPrepareMakesTheStream(t *testing.T) {
	s := startNATS(t, nil)
	o := withEvents
	o.Prefix, o.Events.Stream, o.Events.MaxAge = "p", "E", time.Minute
	a := startAnnouncer(t, o, s.ClientURL())
	for range 2 {
		if err := a.Prepare(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	js, err := jetstream.New(dial(t, s.ClientURL()))
	if err != nil {
		t.Fatal(err)
	}
	stream, err := js.Stream(t.Context(), "E")
	if err != nil {
		t.Fatal(err)
	}
	c := stream.CachedInfo().Config
	if !slices.Equal(c.Subjects, []string{"p.events.>"}) || c.Retention != jetstream.LimitsPolicy || c.Discard != jetstream.DiscardOld ||
		c.Storage != jetstream.FileStorage || c.MaxAge != time.Minute || c.MaxBytes != o.Events.MaxBytes || c.Duplicates != time.Minute {
		t.Errorf("the stream is %+v", c)
	}
}

// TestPrepareFindsAStream takes a stream that somebody else made if it takes the events, and says what is
// wrong with it if not.
func TestPrepareFindsAStream(t *testing.T) {
	tests := []struct {
		name   string
		stream jetstream.StreamConfig
		want   string // "" is no error
	}{
		{"as it is", jetstream.StreamConfig{Name: "CARILLON_EVENTS", Subjects: []string{"carillon.events.>"}, MaxAge: time.Hour, Storage: jetstream.MemoryStorage}, ""},
		{"wider", jetstream.StreamConfig{Name: "CARILLON_EVENTS", Subjects: []string{"x", "carillon.*.*.run.>"}}, ""},
		{"other subjects", jetstream.StreamConfig{Name: "CARILLON_EVENTS", Subjects: []string{"carillon.events.acme.>"}}, `does not take the subjects "carillon.events.*.run.*", but ["carillon.events.acme.>"]`},
		{"no acknowledgements", jetstream.StreamConfig{Name: "CARILLON_EVENTS", Subjects: []string{"carillon.events.>"}, NoAck: true}, "acknowledges nothing"},
		{"in the way", jetstream.StreamConfig{Name: "OTHER", Subjects: []string{"carillon.events.acme.>"}}, `the stream OTHER takes "carillon.events.>"`},
	}
	for _, tc := range tests {
		t.Run(tc.name, func(t *testing.T) {
			s := startNATS(t, nil)
			addStream(t, dial(t, s.ClientURL()), tc.stream)
			a := startAnnouncer(t, withEvents, s.ClientURL())
			err := a.Prepare(t.Context())
			if (err == nil) != (tc.want == "") || err != nil && !strings.Contains(err.Error(), tc.want) {
				t.Errorf("error is %v; want %q", err, tc.want)
			}
			n, announced := a.Announce(t.Context(), []Announcement{deadOf(0), eventOf(1), deadOf(2)})
			if err == nil && n != 3 || err != nil && (n != 1 || announced == nil) {
				t.Errorf("%d are announced: %v", n, announced)
			}
		})
	}
}

// TestStreamDeleted makes the stream again when it has gone.
func TestStreamDeleted(t *testing.T) {
	s := startNATS(t, nil)
	a := startAnnouncer(t, withEvents, s.ClientURL())
	announceAll(t, a, announcements(3, eventOf))
	if err := a.js.DeleteStream(t.Context(), "CARILLON_EVENTS"); err != nil {
		t.Fatal(err)
	}
	n, err := a.Announce(t.Context(), []Announcement{deadOf(3), eventOf(4)})
	if n != 1 || err == nil || !strings.Contains(err.Error(), "no stream takes the subject") {
		t.Errorf("%d are announced: %v", n, err)
	}
	// The server answers before the files of the old stream are gone, and cannot make the new one as long.
	for n, err = 0, nil; n == 0; n, err = a.Announce(t.Context(), []Announcement{eventOf(4)}) {
		if err != nil && !strings.Contains(err.Error(), "error creating store for stream") {
			t.Fatal(err)
		}
	}
	if n := len(stored(t, s.ClientURL(), "CARILLON_EVENTS")); n != 1 {
		t.Errorf("the stream has %d messages; want 1", n)
	}
}

// TestStreamRefuses an event that is too large for a stream that somebody else made.
func TestStreamRefuses(t *testing.T) {
	s := startNATS(t, nil)
	addStream(t, dial(t, s.ClientURL()), jetstream.StreamConfig{Name: "CARILLON_EVENTS", Subjects: []string{"carillon.events.>"}, MaxMsgSize: 400})
	a := startAnnouncer(t, withEvents, s.ClientURL())
	large := eventOf(1)
	large.Error = strings.Repeat("x", 400)
	n, err := a.Announce(t.Context(), []Announcement{eventOf(0), large, eventOf(2)})
	if n != 1 || err == nil || !strings.Contains(err.Error(), "refused the message: message size exceeds maximum allowed") {
		t.Errorf("%d are announced: %v", n, err)
	}
}

func TestNoJetStream(t *testing.T) {
	s := startNATS(t, func(o *server.Options) { o.JetStream = false })
	a := startAnnouncer(t, withEvents, s.ClientURL())
	if n, err := a.Announce(t.Context(), []Announcement{deadOf(0), eventOf(1)}); n != 1 || err == nil {
		t.Errorf("%d are announced: %v", n, err)
	}
}

// TestJetStreamSilent has a JetStream without a leader: requests arrive and are not answered. That holds
// up no dead letter before the event, and is no reason to leave the server.
func TestJetStreamSilent(t *testing.T) {
	s := startNATS(t, func(o *server.Options) { o.JetStream = false })
	subscribe(t, dial(t, s.ClientURL()), "$JS.API.>", func(*nats.Msg) {})
	a := startAnnouncer(t, withEvents, s.ClientURL())
	a.nats.stuck = 400 * time.Millisecond
	n, err := a.Announce(t.Context(), []Announcement{deadOf(0), eventOf(1), deadOf(2)})
	if n != 1 || err == nil || !strings.Contains(err.Error(), errSilent.Error()) {
		t.Errorf("%d are announced: %v", n, err)
	}
	if a.nats.life() != 0 {
		t.Error("the server was left")
	}
}

func TestCovers(t *testing.T) {
	const events = "c.events.*.run.*"
	tests := []struct {
		pattern, subject string
		want             bool
	}{
		{"c.events.>", events, true}, {"c.>", events, true}, {">", events, true},
		{"c.events.*.run.*", events, true}, {"c.*.*.*.*", events, true}, {"c.events.*.run.>", events, true},
		{"c.events.*.run", events, false}, {"c.events.*.run.*.>", events, false}, {"c.events.*.run.*.*", events, false},
		{"c.events.acme.>", events, false}, {"c.events.*.run.dead", events, false}, {"d.>", events, false},
		{"c.*", "c.>", false}, {"c.>", "c.>", true}, {"c.a", "c.a", true}, {"c.a", "c.b", false},
	}
	for _, tc := range tests {
		if got := covers(tc.pattern, tc.subject); got != tc.want {
			t.Errorf("%s covers %s: %t", tc.pattern, tc.subject, got)
		}
	}
}

// TestAckNeedsItsSecret: who has seen the reply subject of one event cannot acknowledge the others of its round.
func TestAckNeedsItsSecret(t *testing.T) {
	a := startAnnouncer(t, withEvents, startNATS(t, nil).ClientURL())
	r := a.newRound(announcements(2, eventOf))
	r.pending[0], r.pending[1], r.open = true, true, 2
	ack := []byte(`{"stream":"S","seq":1}`)
	for _, forged := range []replyToken{{r.first, r.secrets[1]}, {r.first + 1, r.secrets[0]}, {r.first + 1, 0}, {r.first + 2, r.secrets[1]}, {}} {
		if r.takeAck(&nats.Msg{Subject: forged.subject(a.inbox), Data: ack}); r.open != 2 {
			t.Fatalf("%+v was taken", forged)
		}
	}
	if r.takeAck(&nats.Msg{Subject: r.token(1).subject(a.inbox), Data: ack}); r.open != 1 || r.pending[1] {
		t.Error("an acknowledgement was not taken")
	}
}
