package inbox_test

import (
	"log/slog"
	"net"
	"testing"
	"time"

	"github.com/nats-io/nats-server/v2/server"
	"github.com/nats-io/nats.go"

	"github.com/carillon-io/carillon/inbox"
	"github.com/carillon-io/carillon/testkit"
)

// pair is a queue group of two clients of a server that can be restarted.
type pair struct {
	t             *testing.T
	server        *server.Server
	leaves, stays *nats.Conn
	sub           *inbox.Subscription // of leaves
	inHand        chan struct{}       // has an entry while leaves handles a request
	goesOn        chan struct{}       // closed when it may answer
}

func newPair(t *testing.T) *pair {
	p := &pair{t: t, inHand: make(chan struct{}, 1), goesOn: make(chan struct{})}
	p.start(server.RANDOM_PORT)
	p.leaves, p.stays = p.connect(), p.connect()
	p.sub = p.join(p.leaves, func(r *inbox.Request) {
		p.inHand <- struct{}{}
		<-p.goesOn
		_ = r.Answer("test", nil, []byte("leaves"))
		<-p.inHand
	})
	return p
}

func (p *pair) start(port int) {
	p.t.Helper()
	s, err := server.NewServer(&server.Options{Host: "127.0.0.1", Port: port, NoSigs: true, NoLog: true})
	if err != nil {
		p.t.Fatal(err)
	}
	p.server = s
	s.Start()
	p.t.Cleanup(func() { s.Shutdown(); s.WaitForShutdown() })
	if !s.ReadyForConnections(10 * time.Second) {
		p.t.Fatal("the NATS server does not get ready")
	}
}

func (p *pair) connect() *nats.Conn {
	p.t.Helper()
	nc, err := nats.Connect(p.server.ClientURL(), nats.MaxReconnects(-1), nats.ReconnectWait(20*time.Millisecond), nats.ReconnectJitter(0, 0))
	if err != nil {
		p.t.Fatal(err)
	}
	p.t.Cleanup(nc.Close)
	return nc
}

func (p *pair) join(nc *nats.Conn, handle func(*inbox.Request)) *inbox.Subscription {
	p.t.Helper()
	sub, err := inbox.NewDesk(nc, nil, slog.New(slog.DiscardHandler)).QueueSubscribe("work", "workers", handle)
	if err == nil {
		err = nc.Flush()
	}
	if err != nil {
		p.t.Fatal(err)
	}
	return sub
}

// restart stops the server, does something while leaves has no connection, and starts the server again.
func (p *pair) restart(meanwhile func()) {
	p.t.Helper()
	port := p.server.Addr().(*net.TCPAddr).Port
	p.server.Shutdown()
	p.server.WaitForShutdown()
	testkit.Until(p.t, "the connection is lost", func() bool { return !p.leaves.IsConnected() })
	meanwhile()
	p.start(port)
	testkit.Until(p.t, "both are connected", func() bool { return p.leaves.IsConnected() && p.stays.IsConnected() })
}

func (p *pair) drain() {
	p.t.Helper()
	if err := p.sub.Drain(); err != nil {
		p.t.Fatal(err)
	}
}

// wantAlone requires that the subscription of leaves ends, and that stays gets all requests then. A request that the server gives to a
// subscription which nobody reads has no answer.
func (p *pair) wantAlone() {
	p.t.Helper()
	testkit.Until(p.t, "the subscription has ended", func() bool { return !p.sub.IsValid() })
	testkit.Until(p.t, "both are connected", func() bool { return p.leaves.IsConnected() && p.leaves.Flush() == nil && p.stays.IsConnected() })
	p.join(p.stays, func(r *inbox.Request) { _ = r.Answer("test", nil, []byte("stays")) })
	for range 20 {
		m, err := p.stays.Request("work", nil, 2*time.Second)
		if err != nil || string(m.Data) != "stays" {
			p.t.Fatalf("a request after the end: %v, %v", m, err)
		}
	}
}

// TestDrainAcrossReconnects: a subscription that ends while its connection is lost ends at the server too.
func TestDrainAcrossReconnects(t *testing.T) {
	t.Run("without a connection", func(t *testing.T) {
		p := newPair(t)
		p.restart(p.drain)
		p.wantAlone()
	})
	t.Run("without a connection, with a request in hand", func(t *testing.T) {
		p := newPair(t)
		p.ask(0)
		p.restart(p.drain)
		close(p.goesOn)
		p.wantAlone()
	})
	for name, meanwhile := range map[string]func(*pair){
		"with requests in hand, and then the connection is lost": func(p *pair) { p.restart(func() {}) },
		"with requests in hand":                                  func(*pair) {},
	} {
		t.Run(name, func(t *testing.T) {
			p := newPair(t)
			p.ask(0)
			p.ask(1)
			p.drain()
			meanwhile(p)
			close(p.goesOn)
			p.wantAlone()
		})
	}
}

// ask sends a request to leaves, and waits until it is in hand, or waits there behind others.
func (p *pair) ask(behind int) {
	p.t.Helper()
	if err := p.stays.PublishRequest("work", nats.NewInbox(), nil); err != nil {
		p.t.Fatal(err)
	}
	testkit.Until(p.t, "the request has come", func() bool {
		waiting, _, err := p.sub.Pending()
		return err == nil && len(p.inHand) == 1 && waiting == 1+behind
	})
}
