package apitest

import (
	"encoding/json"
	"testing"
	"time"

	"github.com/nats-io/nats-server/v2/server"
	"github.com/nats-io/nats.go"

	"github.com/carillon-io/carillon/client"
)

// StartNATS runs a NATS server for the length of a test. It listens on a port of its own on the loopback interface,
// so tests can run side by side. maxPayload bounds messages, in bytes; 0 means the default of NATS, 1 MiB.
func StartNATS(t testing.TB, maxPayload int32) string {
	t.Helper()
	// NoSigs leaves the signals to the test; a server that handled them would end the test's process.
	s, err := server.NewServer(&server.Options{Host: "127.0.0.1", Port: server.RANDOM_PORT, NoSigs: true, NoLog: true, MaxPayload: maxPayload})
	if err != nil {
		t.Fatal(err)
	}
	s.Start()
	t.Cleanup(func() {
		s.Shutdown()
		s.WaitForShutdown()
	})
	if !s.ReadyForConnections(10 * time.Second) {
		t.Fatal("the NATS server did not become ready")
	}
	return s.ClientURL()
}

// Connect returns a connection that is closed when the test ends.
func Connect(t testing.TB, url string) *nats.Conn {
	t.Helper()
	nc, err := nats.Connect(url)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(nc.Close)
	return nc
}

// NewClient returns a client of a service.
func NewClient(t testing.TB, url string, opts client.Options) *client.Client {
	t.Helper()
	c, err := client.Connect(url, opts)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(c.Close)
	return c
}

// NewMsg returns a request that can have headers.
func NewMsg(subject, body string) *nats.Msg {
	msg := nats.NewMsg(subject)
	msg.Data = []byte(body)
	return msg
}

// Ask sends a request and decodes the reply, if it is to go anywhere. It fails the test if no reply comes within
// five seconds.
func Ask(t *testing.T, nc *nats.Conn, subject, body string, into any) []byte {
	t.Helper()
	msg, err := nc.Request(subject, []byte(body), 5*time.Second)
	if err != nil {
		t.Fatalf("%s: %v", subject, err)
	}
	if into != nil {
		if err := json.Unmarshal(msg.Data, into); err != nil {
			t.Fatalf("%s: %v", subject, err)
		}
	}
	return msg.Data
}
