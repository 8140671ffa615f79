package server_test

import (
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/nats-io/nats.go"

	"github.com/carillon-io/carillon/client"
	"github.com/carillon-io/carillon/server"
	"github.com/carillon-io/carillon/testkit"
)

// TestMissedRunsReachWhoConnectsAgain: the server with the NATS of all others is away when runs are due. Those who receive them
// connect again a while after the next start, and get each of them once, as its first attempt.
func TestMissedRunsReachWhoConnectsAgain(t *testing.T) {
	t.Parallel()
	o := server.WithSettling(options(filepath.Join(t.TempDir(), "data")))
	s := startWith(t, o)
	o.Listen = strings.TrimPrefix(s.Ready().NATS, "nats://")
	nc, err := nats.Connect(s.Ready().NATS, nats.MaxReconnects(-1), nats.ReconnectWait(1500*time.Millisecond))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(nc.Close)
	got := make(chan *nats.Msg, 8)
	for _, subject := range []string{"news", "work"} {
		if _, err := nc.Subscribe(subject, func(m *nats.Msg) { got <- m; _ = m.Respond(nil) }); err != nil {
			t.Fatal(err)
		}
	}
	_, c := connect(t, s)
	at := time.Now().Add(time.Second)
	for kind, subject := range map[string]string{"nats": "news", "request": "work"} {
		j := client.Job{Name: kind, Schedule: "@at " + at.UTC().Format(time.RFC3339Nano), Target: client.Target{Kind: kind, Subject: subject}, Retry: client.Retry{MaxAttempts: 1}}
		if _, _, err := c.Put(t.Context(), j); err != nil {
			t.Fatal(err)
		}
	}
	if err := s.Close(t.Context()); err != nil {
		t.Fatal(err)
	}
	testkit.Until(t, "the jobs are due", func() bool { return time.Now().After(at) })
	s = startWith(t, o)
	met := make(map[string]string)
	for range 2 {
		m := testkit.Receive(t, got)
		met[m.Subject] = m.Header.Get("Carillon-Attempt")
	}
	if met["news"] != "1" || met["work"] != "1" || len(got) != 0 {
		t.Errorf("the messages that came, with their attempts: %v, and %d more", met, len(got))
	}
	_, c = connect(t, s)
	testkit.Until(t, "both have succeeded", func() bool {
		for _, name := range []string{"nats", "request"} {
			page, err := c.ListRuns(t.Context(), client.RunListRequest{Job: name})
			if err != nil || len(page.Runs) != 1 || page.Runs[0].Status != "succeeded" {
				return false
			}
		}
		return true
	})
}
