package client_test

import (
	"context"
	"fmt"
	"log/slog"
	"os"
	"testing"
	"time"

	"github.com/nats-io/nats.go"

	"github.com/carillon-io/carillon/client"
	"github.com/carillon-io/carillon/client/clienttest"
	"github.com/carillon-io/carillon/server"
)

// serverURL is where the tests and the examples find a Carillon.
var serverURL string

// TestMain runs a whole server, with its data in a directory that goes with it.
func TestMain(m *testing.M) {
	code, err := runWithServer(m)
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	os.Exit(code)
}

func runWithServer(m *testing.M) (code int, err error) {
	dir, err := os.MkdirTemp("", "carillon-client-test-")
	if err != nil {
		return 0, err
	}
	defer os.RemoveAll(dir)
	ctx, cancel := context.WithTimeout(context.Background(), 30*time.Second)
	defer cancel()
	s, err := server.Start(ctx, server.Options{
		Dir: dir, Listen: "127.0.0.1:0", HTTPListen: "127.0.0.1:0", Logger: slog.New(slog.DiscardHandler),
	})
	if err != nil {
		return 0, fmt.Errorf("start the server: %w", err)
	}
	serverURL = s.Ready().NATS
	code = m.Run()
	stop, cancel := context.WithTimeout(context.Background(), 10*time.Second)
	defer cancel()
	return code, s.Close(stop)
}

// dial connects to the server of the tests, and returns the connection and a client over it. Both end with the test.
func dial(t *testing.T, opts client.Options) (*nats.Conn, *client.Client) {
	t.Helper()
	nc, err := nats.Connect(serverURL)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(nc.Close)
	return nc, clienttest.New(t, nc, opts)
}
