package server_test

import (
	"path/filepath"
	"testing"
	"time"

	"github.com/nats-io/nats.go"

	"github.com/carillon-io/carillon/client"
	"github.com/carillon-io/carillon/server"
	"github.com/carillon-io/carillon/testkit"
)

// startWithEvents starts a server that publishes events, and returns its options as well, for another start.
func startWithEvents(t *testing.T) (server.Options, *server.Server) {
	t.Helper()
	o := options(filepath.Join(t.TempDir(), "data"))
	o.Events = true
	return o, startWith(t, o)
}

// TestNoticesOfADeletedJob: the stream of events accepts nothing, and so the dead letters wait behind the events. The job
// is deleted meanwhile. All that waits is published when there is room, with the payload and the name of the job.
func TestNoticesOfADeletedJob(t *testing.T) {
	t.Parallel()
	_, s := startWithEvents(t)
	nc, c := connect(t, s)
	js, makeRoom := fullEvents(t, nc)
	letters := make(chan *nats.Msg, 100)
	if _, err := nc.ChanSubscribe("carillon.dead.default", letters); err != nil {
		t.Fatal(err)
	}
	_, _, err := c.Put(t.Context(), client.Job{
		Name: "gone", Schedule: "@every 1s", Payload: []byte(`{"n":1}`),
		Target: client.Target{Kind: "http", URL: "http://127.0.0.1:1/x"}, Retry: client.Retry{MaxAttempts: 1},
	})
	if err != nil {
		t.Fatal(err)
	}
	testkit.Until(t, "a run is dead", func() bool {
		st, err := c.Status(t.Context())
		return err == nil && st.Dead > 0
	})
	if _, err := c.Delete(t.Context(), "gone"); err != nil {
		t.Fatal(err)
	}
	st, err := c.Status(t.Context())
	if err != nil || st.Notices < 1 { // one event more has found room
		t.Fatalf("%d notices wait, %v", st.Notices, err)
	}
	makeRoom()
	m := testkit.Receive(t, letters)
	if string(m.Data) != `{"n":1}` || m.Header.Get("Carillon-Job") != "gone" || m.Header.Get("Carillon-Target") != "http http://127.0.0.1:1" {
		t.Errorf("the dead letter has the body %q and the headers %v", m.Data, m.Header)
	}
	testkit.Until(t, "the events are in the stream", func() bool {
		stream, err := js.Stream(t.Context(), "CARILLON_EVENTS")
		now, statusErr := c.Status(t.Context())
		return err == nil && statusErr == nil && now.Notices == 0 && now.NoticesLost == 0 && stream.CachedInfo().State.Msgs >= 1+uint64(st.Notices)
	})
}

// TestEventsThatAreSwitchedOff: events wait, and the server is started again without them. They are counted as lost.
func TestEventsThatAreSwitchedOff(t *testing.T) {
	t.Parallel()
	o, s := startWithEvents(t)
	nc, c := connect(t, s)
	fullEvents(t, nc)
	putHerd(t, c, client.Target{Kind: "nats", Subject: "herd.off"}, 20, time.Second)
	testkit.Until(t, "the herd has fired", func() bool {
		st, err := c.Status(t.Context())
		return err == nil && st.Succeeded == 20 && st.Notices > 0
	})
	waiting, err := c.Status(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if err := s.Close(t.Context()); err != nil {
		t.Fatal(err)
	}
	o.Events = false
	_, c = connect(t, startWith(t, o))
	testkit.Until(t, "none waits, and each is counted", func() bool {
		st, err := c.Status(t.Context())
		return err == nil && st.Notices == 0 && st.NoticesLost == uint64(waiting.Notices) && len(st.Warnings) == 1
	})
}
