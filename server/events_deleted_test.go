package server_test

import (
	"path/filepath"
	"testing"

	"github.com/nats-io/nats.go"

	"github.com/carillon-io/carillon/client"
	"github.com/carillon-io/carillon/server"
	"github.com/carillon-io/carillon/testkit"
)

// TestNoticesOfADeletedJob: the stream of events accepts nothing, and so the dead letters wait behind the events. The job
// is deleted meanwhile. All that waits is published when there is room, with the payload and the name of the job.
func TestNoticesOfADeletedJob(t *testing.T) {
	t.Parallel()
	s := startWith(t, server.Options{Dir: filepath.Join(t.TempDir(), "data"), Events: true, AllowPrivateTargets: true})
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
