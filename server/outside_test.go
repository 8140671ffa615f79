package server_test

import (
	"net"
	"path/filepath"
	"testing"
	"time"

	natsserver "github.com/nats-io/nats-server/v2/server"
	"github.com/nats-io/nats.go"

	"github.com/carillon-io/carillon/client"
	"github.com/carillon-io/carillon/client/clienttest"
	"github.com/carillon-io/carillon/testkit"
)

// runNATS starts a NATS server of its own, on a given port or any.
func runNATS(t *testing.T, port int) *natsserver.Server {
	t.Helper()
	s, err := natsserver.NewServer(&natsserver.Options{Host: "127.0.0.1", Port: port, NoSigs: true})
	if err != nil {
		t.Fatal(err)
	}
	s.Start()
	if !s.ReadyForConnections(10 * time.Second) {
		t.Fatal("the NATS server does not get ready")
	}
	t.Cleanup(s.Shutdown)
	return s
}

// TestOutsideServerRestarts: while the outside NATS server is gone nothing is lost; when it is back,
// runs that were due meanwhile arrive, and requests are answered, without a restart of ours.
func TestOutsideServerRestarts(t *testing.T) {
	outside := runNATS(t, -1)
	port := outside.Addr().(*net.TCPAddr).Port
	o := options(filepath.Join(t.TempDir(), "data"))
	o.NATSURL = outside.ClientURL()
	s := startWith(t, o)

	nc, c := clienttest.Connect(t, outside.ClientURL(), nats.MaxReconnects(-1), nats.ReconnectWait(20*time.Millisecond))
	fired := make(chan *nats.Msg, 16)
	if _, err := nc.ChanSubscribe("out", fired); err != nil {
		t.Fatal(err)
	}
	put := func(name string, in time.Duration) error {
		at := time.Now().Add(in).UTC().Format(time.RFC3339Nano)
		_, _, err := c.Put(t.Context(), client.Job{Name: name, Schedule: "@at " + at, Target: client.Target{Kind: "nats", Subject: "out"}})
		return err
	}
	// The server is gone by then, also on a busy machine: what it takes just before its end may reach no subscriber.
	if err := put("while-gone", 2*time.Second); err != nil {
		t.Fatal(err)
	}
	outside.Shutdown()
	outside.WaitForShutdown()
	runNATS(t, port)
	if m := testkit.Receive(t, fired); m.Header.Get("Carillon-Job") != "while-gone" {
		t.Errorf("got %v", m.Header)
	}
	// The server's own subscription may come back a little after the client's: the first requests can find no
	// responder.
	testkit.Until(t, "a job is registered", func() bool { return put("after", 0) == nil })
	if m := testkit.Receive(t, fired); m.Header.Get("Carillon-Job") != "after" {
		t.Errorf("got %v", m.Header)
	}
	if err := s.Close(t.Context()); err != nil { // before its NATS server ends, for whose answer it would wait
		t.Error(err)
	}
}
