package server_test

import (
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"github.com/carillon-io/carillon/client"
	"github.com/carillon-io/carillon/server"
	"github.com/carillon-io/carillon/testkit"
)

// fullEvents makes a stream of events that accepts one message and refuses the next. It returns a function that
// makes room.
func fullEvents(t *testing.T, nc *nats.Conn) (js jetstream.JetStream, makeRoom func()) {
	t.Helper()
	js, err := jetstream.New(nc)
	if err != nil {
		t.Fatal(err)
	}
	c := jetstream.StreamConfig{
		Name: "CARILLON_EVENTS", Subjects: []string{"carillon.events.>"}, Discard: jetstream.DiscardNew, MaxMsgs: 1,
	}
	if _, err := js.UpdateStream(t.Context(), c); err != nil {
		t.Fatal(err)
	}
	return js, func() {
		t.Helper()
		c.MaxMsgs = -1
		if _, err := js.UpdateStream(t.Context(), c); err != nil {
			t.Fatal(err)
		}
	}
}

// fireBeforeFullEvents lets a herd fire whose events find no room, and returns the status when all have fired.
func fireBeforeFullEvents(t *testing.T, herd int, o server.Options) (c *client.Client, st *client.Status, js jetstream.JetStream, makeRoom func()) {
	t.Helper()
	o.Dir, o.Listen, o.HTTPListen, o.Events = filepath.Join(t.TempDir(), "data"), "127.0.0.1:0", "127.0.0.1:0", true
	o.CatchupRate = 1_000_000 // what is registered after its time fires at once as well
	s := startWith(t, o)
	nc, c := connect(t, s)
	js, makeRoom = fullEvents(t, nc)
	putHerd(t, c, client.Target{Kind: "nats", Subject: "herd.events"}, herd, 2*time.Second)
	testkit.Until(t, "the herd has fired", func() bool {
		got, err := c.Status(t.Context())
		st = &got
		return err == nil && st.Succeeded == uint64(herd)
	})
	return c, st, js, makeRoom
}

// TestEventsOfAHerdWait: while the stream accepts nothing, a herd makes more events than an earlier release
// kept. All of them are published when there is room.
func TestEventsOfAHerdWait(t *testing.T) {
	if testing.Short() {
		t.Skip("the race detector takes minutes for such a herd")
	}
	const herd = 51_000
	_, st, js, makeRoom := fireBeforeFullEvents(t, herd, server.Options{})
	if st.NoticesLost != 0 || len(st.Warnings) != 0 || st.Notices < 2*herd-1 {
		t.Fatalf("%d events wait and %d are lost, with the warnings %q; want all of %d to wait", st.Notices, st.NoticesLost, st.Warnings, 2*herd)
	}
	makeRoom()
	testkit.Until(t, "all events are in the stream", func() bool {
		stream, err := js.Stream(t.Context(), "CARILLON_EVENTS")
		return err == nil && stream.CachedInfo().State.Msgs == 2*herd
	})
}

// TestEventsBeyondTheBound: events beyond the bound are dropped, counted, and named in the status; those that wait
// are published.
func TestEventsBeyondTheBound(t *testing.T) {
	const herd, bound = 1_500, 1_000
	c, st, js, makeRoom := fireBeforeFullEvents(t, herd, server.Options{EventsMaxWaiting: bound})
	if st.Notices != bound || st.NoticesLost < 2*herd-bound-1 {
		t.Errorf("%d events wait and %d are lost, want %d and the rest of %d", st.Notices, st.NoticesLost, bound, 2*herd)
	}
	if len(st.Warnings) != 1 || !strings.Contains(st.Warnings[0], "--events-max-waiting") {
		t.Errorf("warnings: %q, want what to do about lost events", st.Warnings)
	}
	makeRoom()
	testkit.Until(t, "what waited is in the stream", func() bool {
		stream, err := js.Stream(t.Context(), "CARILLON_EVENTS")
		now, statusErr := c.Status(t.Context())
		return err == nil && statusErr == nil && now.Notices == 0 && stream.CachedInfo().State.Msgs+now.NoticesLost == 2*herd
	})
}
