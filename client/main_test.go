package client_test

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/nats-io/nats.go"

	"github.com/carillon-io/carillon/access"
	"github.com/carillon-io/carillon/client"
	"github.com/carillon-io/carillon/client/clienttest"
	"github.com/carillon-io/carillon/server"
)

// Where the tests and the examples find a Carillon: one without rights, and one with the rights of rightsText.
var (
	serverURL, httpURL         string // over NATS, over HTTP
	guardedNATS, guardedHTTP   string
	operatorToken, viewerToken string // files with the tokens of an operator and a viewer of the tenant billing
)

// rightsText has a placeholder for the hash of each token.
const rightsText = `tenants: {billing: }
principals:
  - {name: ci, token_sha256: %q, grants: [{tenant: billing, role: operator}]}
  - {name: eve, token_sha256: %q, grants: [{tenant: billing, role: viewer}]}
  - {name: ops, token_sha256: %q, grants: [{tenant: "*", role: admin}]}
`

const adminToken = "an-admins-token"

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
	open, err := start(filepath.Join(dir, "open"), "")
	if err != nil {
		return 0, err
	}
	serverURL, httpURL = open.Ready().NATS, open.Ready().HTTP
	operatorToken, viewerToken = filepath.Join(dir, "operator"), filepath.Join(dir, "viewer")
	rights := filepath.Join(dir, "auth.yaml")
	text := fmt.Sprintf(rightsText, access.HashToken("operator"), access.HashToken("viewer"), access.HashToken(adminToken))
	err = errors.Join(
		os.WriteFile(operatorToken, []byte("operator\n"), 0o600), os.WriteFile(viewerToken, []byte("viewer\n"), 0o600),
		os.WriteFile(rights, []byte(text), 0o600))
	if err != nil {
		return 0, err
	}
	guarded, err := start(filepath.Join(dir, "guarded"), rights)
	if err != nil {
		return 0, err
	}
	guardedNATS, guardedHTTP = guarded.Ready().NATS, guarded.Ready().HTTP
	code = m.Run()
	stop, cancel := context.WithTimeout(context.Background(), 10*time.Second)
	defer cancel()
	return code, errors.Join(open.Close(stop), guarded.Close(stop))
}

// start starts a server with its data in a directory, with a file of rights or without.
func start(dir, rights string) (*server.Server, error) {
	ctx, cancel := context.WithTimeout(context.Background(), 30*time.Second)
	defer cancel()
	s, err := server.Start(ctx, server.Options{
		Dir: dir, Listen: "127.0.0.1:0", HTTPListen: "127.0.0.1:0", Auth: rights, Logger: slog.New(slog.DiscardHandler),
	})
	if err != nil {
		return nil, fmt.Errorf("start the server: %w", err)
	}
	return s, nil
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
