package api

import (
	"context"
	"log/slog"
	"testing"
	"time"

	"github.com/nats-io/nats-server/v2/server"
	"github.com/nats-io/nats.go"

	"github.com/carillon-io/carillon/bus/bustest"
	"github.com/carillon-io/carillon/client"
	"github.com/carillon-io/carillon/job"
	"github.com/carillon-io/carillon/memory"
	"github.com/carillon-io/carillon/scheduler"
)

// quiet is a logger for what tests provoke.
var quiet = slog.New(slog.DiscardHandler)

// willing is a sender whose targets take everything at once.
type willing struct{ scheduler.Boundless }

// Cancel implements scheduler.Sender: nothing takes long enough to be cancelled.
func (willing) Cancel(job.RunID) {}

func (willing) Launch(d *job.Delivery, done func(job.Outcome)) {
	go done(job.Outcome{Run: d.Run, Attempt: d.Attempt, LaunchedAt: time.Now(), Duration: time.Millisecond})
}

// startEngine runs a real engine for the length of a test.
func startEngine(t testing.TB) *scheduler.Engine {
	t.Helper()
	// A history long enough for runs that are backfilled over years: others leave it when they end.
	settings := scheduler.Settings{HistoryDays: 4 * 366}
	e, err := scheduler.Open(scheduler.Options{Log: new(memory.Log), Store: new(memory.Store), Sender: willing{}, Logger: quiet, Settings: settings})
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan error, 1)
	go func() { done <- e.Serve(ctx) }()
	t.Cleanup(func() {
		cancel()
		if err := <-done; err != nil {
			t.Error(err)
		}
	})
	return e
}

// startNATS runs a NATS server for the length of a test.
func startNATS(t testing.TB, maxPayload int32) string {
	t.Helper()
	s := bustest.RunWith(t, &server.Options{MaxPayload: maxPayload})
	return s.ClientURL()
}

func connect(t testing.TB, url string) *nats.Conn {
	t.Helper()
	nc, err := nats.Connect(url)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(nc.Close)
	return nc
}

// startService runs a service in front of an engine, and returns the URL of its NATS server.
func startService(t testing.TB, engine Engine, opts Options, maxPayload int32) (*Service, string) {
	t.Helper()
	url := startNATS(t, maxPayload)
	nc := connect(t, url)
	setDefault(&opts.Logger, quiet)
	s, err := NewService(nc, engine, opts)
	if err != nil {
		t.Fatal(err)
	}
	if err := nc.Flush(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
		defer cancel()
		if err := s.Close(ctx); err != nil {
			t.Error(err)
		}
	})
	return s, url
}

// newClient returns a client of a service.
func newClient(t testing.TB, url string, opts client.Options) *client.Client {
	t.Helper()
	c, err := client.Connect(url, opts)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(c.Close)
	return c
}

// newMsg returns a request that can have headers.
func newMsg(subject, body string) *nats.Msg {
	msg := nats.NewMsg(subject)
	msg.Data = []byte(body)
	return msg
}
