package server_test

import (
	"context"
	"errors"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/nats-io/nats.go"

	"github.com/carillon-io/carillon/client"
	"github.com/carillon-io/carillon/client/clienttest"
	"github.com/carillon-io/carillon/server"
	"github.com/carillon-io/carillon/testkit"
)

func start(t *testing.T, dir string) *server.Server {
	t.Helper()
	return startWith(t, options(dir))
}

// startWith starts a server with options of the test's own. It ends with the test.
func startWith(t *testing.T, o server.Options) *server.Server {
	t.Helper()
	s, err := server.Start(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.Close(context.Background()) })
	return s
}

func options(dir string) server.Options {
	return server.WithoutSettling(server.Options{
		Dir: dir, Listen: "127.0.0.1:0", HTTPListen: "127.0.0.1:0", AllowPrivateTargets: true,
		Logger: slog.New(slog.DiscardHandler),
	})
}

func connect(t *testing.T, s *server.Server) (*nats.Conn, *client.Client) {
	t.Helper()
	return clienttest.Connect(t, s.Ready().NATS)
}

// TestRegisterFireRestart walks the whole path with everything real: a job is registered over NATS,
// fires at its time and not before, and is still there, with its history, after a restart.
func TestRegisterFireRestart(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "data")
	s := start(t, dir)
	nc, c := connect(t, s)
	fired := make(chan *nats.Msg, 16)
	if _, err := nc.ChanSubscribe("out.>", fired); err != nil {
		t.Fatal(err)
	}
	at := time.Now().Add(300 * time.Millisecond)
	j := client.Job{
		Name: "once", Schedule: "@at " + at.UTC().Format(time.RFC3339Nano),
		Target:  client.Target{Kind: "nats", Subject: "out.once"},
		Payload: []byte(`{"n":1}`),
	}
	put, created, err := c.Put(t.Context(), j)
	if err != nil || !created {
		t.Fatalf("put: created %t, %v", created, err)
	}
	m := testkit.Receive(t, fired)
	if time.Now().Before(at) || string(m.Data) != `{"n":1}` || m.Header.Get("Carillon-Job") != "once" || m.Header.Get("Carillon-Fence") == "" {
		t.Errorf("got %q with %v", m.Data, m.Header)
	}
	if err := s.Close(t.Context()); err != nil {
		t.Fatal(err)
	}

	s = start(t, dir)
	if r := s.Ready(); r.Jobs != 1 || r.Epoch != 2 || r.Role != "leader" {
		t.Errorf("ready again as %+v", r)
	}
	_, c = connect(t, s)
	got, err := c.Get(t.Context(), "once")
	if err != nil || got.ID != put.ID || got.Status != "completed" || got.LastRun == nil || got.LastRun.ID != m.Header.Get("Carillon-Run-Id") {
		t.Errorf("after the restart: %+v, %v", got, err)
	}
}

// TestStartRefuses: each error at start says what is wrong and where, and leaves the data alone.
func TestStartRefuses(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "data")
	s := start(t, dir)
	patience := 20 * time.Second
	refuse := func(what string, want string, change func(*server.Options)) {
		t.Helper()
		o := options(filepath.Join(t.TempDir(), "other"))
		change(&o)
		ctx, cancel := context.WithTimeout(t.Context(), patience)
		defer cancel()
		got, err := server.Start(ctx, o)
		if err == nil {
			_ = got.Close(t.Context())
			t.Errorf("%s was taken", what)
		} else if !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v; want something about %q", what, err, want)
		}
	}
	refuse("a directory in use", "in use", func(o *server.Options) { o.Dir = dir })
	refuse("an HTTP port in use", "HTTP", func(o *server.Options) { o.HTTPListen = strings.TrimPrefix(s.Ready().HTTP, "http://") })
	refuse("a NATS port in use", "NATS", func(o *server.Options) { o.Listen = strings.TrimPrefix(s.Ready().NATS, "nats://") })
	refuse("a file for a directory", "data directory", func(o *server.Options) {
		o.Dir = filepath.Join(t.TempDir(), "file")
		if err := os.WriteFile(o.Dir, nil, 0o600); err != nil {
			t.Fatal(err)
		}
	})
	refuse("a bad prefix", "prefix", func(o *server.Options) { o.Prefix = "a.b" })
	patience = 500 * time.Millisecond // it waits, and says for what
	refuse("nobody at the URL", "connect to NATS", func(o *server.Options) { o.NATSURL = "nats://127.0.0.1:1" })
}

// TestLogAndStoreMustFit: a log that is not the store's is refused by name.
func TestLogAndStoreMustFit(t *testing.T) {
	one, two := filepath.Join(t.TempDir(), "one"), filepath.Join(t.TempDir(), "two")
	for _, dir := range []string{one, two} {
		s := start(t, dir)
		_, c := connect(t, s)
		for range 3 {
			if _, _, err := c.Put(t.Context(), client.Job{Name: "a", Schedule: "@every 1h", Target: client.Target{Kind: "nats", Subject: "x"}}); err != nil {
				t.Fatal(err)
			}
		}
		if err := s.Close(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	if err := errors.Join(os.RemoveAll(filepath.Join(one, "shards", "0", "wal")), os.Rename(filepath.Join(two, "shards", "0", "wal"), filepath.Join(one, "shards", "0", "wal"))); err != nil {
		t.Fatal(err)
	}
	_, err := server.Start(t.Context(), options(one))
	if err == nil || !strings.Contains(err.Error(), "do not fit together") {
		t.Errorf("a foreign log: %v", err)
	}
	if err := os.RemoveAll(filepath.Join(one, "shards", "0", "wal")); err != nil {
		t.Fatal(err)
	}
	if _, err := server.Start(t.Context(), options(one)); err == nil || !strings.Contains(err.Error(), "do not fit together") {
		t.Errorf("a missing log: %v", err)
	}
}
