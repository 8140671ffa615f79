// Package clienttest has clients for the tests of those who need a server that is reached over NATS.
package clienttest

import (
	"testing"

	"github.com/nats-io/nats.go"

	"github.com/carillon-io/carillon/client"
)

// Connect connects to a NATS server, and returns the connection and a client with default options over it. Both end with
// the test. It ends the test if there is no connection.
func Connect(t testing.TB, url string, opts ...nats.Option) (*nats.Conn, *client.Client) {
	t.Helper()
	nc, err := nats.Connect(url, opts...)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(nc.Close)
	return nc, New(t, nc, client.Options{})
}

// New returns a client over a connection. It ends the test if the options are invalid.
func New(t testing.TB, nc *nats.Conn, opts client.Options) *client.Client {
	t.Helper()
	c, err := client.New(nc, opts)
	if err != nil {
		t.Fatal(err)
	}
	return c
}
