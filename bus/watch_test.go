package bus

import (
	"context"
	"errors"
	"io"
	"log/slog"
	"net"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/nats-io/nats.go"

	"github.com/carillon-io/carillon/bus/bustest"
	"github.com/carillon-io/carillon/testkit"
)

// holding is a proxy between a client and a server that can stop passing bytes, as a network does that loses
// all of them.
type holding struct {
	net.Listener
	target string
	held   atomic.Bool
}

func newHolding(t *testing.T, url string) *holding {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	h := &holding{Listener: l, target: strings.TrimPrefix(url, "nats://")}
	t.Cleanup(func() { _ = l.Close() })
	go func() {
		for {
			near, err := l.Accept()
			if err != nil {
				return
			}
			far, err := net.Dial("tcp", h.target)
			if err != nil {
				_ = near.Close()
				continue
			}
			t.Cleanup(func() { _, _ = near.Close(), far.Close() })
			go h.pass(near, far)
			go h.pass(far, near)
		}
	}()
	return h
}

func (h *holding) pass(to io.Writer, from io.Reader) {
	b := make([]byte, 4096)
	for {
		n, err := from.Read(b)
		if err != nil {
			return
		}
		if !h.held.Load() {
			_, _ = to.Write(b[:n])
		}
	}
}

func (h *holding) url() string { return "nats://" + h.Addr().String() }

// watched is a bus with some addresses, whose connection is with the first.
func watched(t *testing.T, urls ...string) (*Bus, *nats.Conn) {
	t.Helper()
	o := Options{ClusterName: "prod", URL: strings.Join(urls, ","), Logger: slog.New(slog.DiscardHandler)}
	b := &Bus{opts: o, url: o.URL}
	conn, err := nats.Connect(b.url, append(b.options("test"), nats.DontRandomize(), nats.MaxReconnects(-1))...)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(conn.Close)
	if conn.ConnectedUrl() != urls[0] {
		t.Fatalf("connected to %s", conn.ConnectedUrl())
	}
	ctx, stop := context.WithCancel(t.Context())
	done := make(chan struct{})
	go func() { b.WatchServers(ctx, []*nats.Conn{conn}); close(done) }()
	t.Cleanup(func() { stop(); <-done })
	return b, conn
}

const withJetStream = "port: -1\njetstream { store_dir: \"%s\" }\n"

// goesTo waits until a connection uses a server.
func goesTo(t *testing.T, conn *nats.Conn, url string) {
	t.Helper()
	testkit.Retry(t, "leave the server", func(context.Context) error {
		if !conn.IsConnected() || !sameServer(conn.ConnectedUrl(), url) {
			return errors.New(conn.ConnectedUrl())
		}
		return nil
	})
}

// TestLeavesSilentServer: a server that is cut off silently is left long before TCP notices.
func TestLeavesSilentServer(t *testing.T) {
	t.Parallel()
	first, second := bustest.Run(t, withJetStream), bustest.Run(t, withJetStream)
	h := newHolding(t, first.ClientURL())
	_, conn := watched(t, h.url(), second.ClientURL())
	h.held.Store(true)
	began := time.Now()
	goesTo(t, conn, second.ClientURL())
	if took := time.Since(began); took > 5*time.Second {
		t.Errorf("it took %s", took)
	}
}

// TestLeavesServerWithoutJetStream: a server that works, but through which JetStream does not answer, is left
// if another one answers; not if none does, as in an election.
func TestLeavesServerWithoutJetStream(t *testing.T) {
	plain, other := bustest.Run(t, "port: -1\n# %s\n"), bustest.Run(t, "port: -1\n# %s\n")
	b, conn := watched(t, plain.ClientURL(), other.ClientURL())
	w := serverWatch{Bus: b, conn: conn}
	if why := w.inspect(t.Context()); why != nil {
		t.Errorf("left while JetStream is silent everywhere: %v", why)
	}
	whole := bustest.Run(t, withJetStream)
	_, conn = watched(t, plain.ClientURL(), whole.ClientURL())
	goesTo(t, conn, whole.ClientURL())
}

func TestSameServer(t *testing.T) {
	for _, p := range [][2]string{{"nats://a:1", "a:1"}, {"tls://u:p@a:1", "nats://a:1"}} {
		if !sameServer(p[0], p[1]) {
			t.Errorf("%s and %s are one", p[0], p[1])
		}
	}
	if sameServer("nats://a:1", "nats://a:2") {
		t.Error("two addresses are one")
	}
}
