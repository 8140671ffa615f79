package bus

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"github.com/carillon-io/carillon/dispatch"
)

// A NATS server may be cut off without notice: from this process, so that it answers no PING, or from its
// peers, so that it answers PINGs but JetStream is silent through it. A node of a cluster then connects to
// another server. An election of JetStream is no reason to do that: during it JetStream is silent through every
// server.
const (
	watchEvery = 500 * time.Millisecond
	// Together with watchEvery this bounds how long a cut-off server goes unnoticed: about two such waits and one
	// pause between them, below 3 s.
	pongTimeMax = 900 * time.Millisecond // two missing answers in a row; the standbys wait longer for a leader that does not answer
	// A shorter time would send a node to and fro during each election of JetStream.
	silentTimeMax = 2 * time.Second // silence of JetStream after which it is asked through another server
	probeTimeMax  = time.Second
	watchJSEvery  = 2 * time.Second
)

// WatchServers leaves servers that are cut off, until ctx ends. With one address there is no other server. It checks
// the server of the first of the connections. All connections to that server move together, because all of them are
// cut off with it. It blocks, and is called once, after the last Connect.
func (b *Bus) WatchServers(ctx context.Context, conns []*nats.Conn) {
	if b.embedded != nil || !strings.Contains(b.url, ",") {
		return
	}
	conn := conns[0]
	w := serverWatch{Bus: b, conn: conn}
	tick := time.NewTicker(watchEvery)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
		if why := w.inspect(ctx); why != nil && ctx.Err() == nil {
			b.leave(conn, conns, why)
		}
	}
}

// serverWatch checks the server of one connection. It is for one goroutine. It pings besides the client's own pings,
// which take several seconds to notice a silent server.
type serverWatch struct {
	*Bus
	conn  *nats.Conn
	mute  int       // consecutive PINGs without an answer
	asked time.Time // when JetStream was last asked
}

// mutePings is the number of consecutive PINGs without an answer that is too many: during one of them this
// process itself may have stood still.
const mutePings = 2

// inspect returns why the server is to be left; nil if it is not. The order saves requests: JetStream is asked only if
// the server itself answers, and another server only if JetStream is silent. It asks the present server once more at
// the end, because an election that ended between the two questions looks like a server that is cut off.
func (w *serverWatch) inspect(ctx context.Context) error {
	if !w.conn.IsConnected() {
		return nil // the connection is moving to another server already
	}
	ping, cancel := context.WithTimeout(ctx, pongTimeMax)
	err := w.conn.FlushWithContext(ping)
	cancel()
	if !errors.Is(err, context.DeadlineExceeded) {
		w.mute = 0
	} else if w.mute++; w.mute >= mutePings {
		w.mute = 0
		return fmt.Errorf("it does not answer a PING within %s", pongTimeMax)
	}
	if err != nil || time.Since(w.asked) < watchJSEvery {
		return nil
	}
	w.asked = time.Now()
	if asksJetStream(ctx, w.conn, silentTimeMax) == nil || !w.conn.IsConnected() {
		return nil
	}
	url := w.conn.ConnectedUrl()
	if !w.worksElsewhere(ctx, url) || asksJetStream(ctx, w.conn, probeTimeMax) == nil {
		return nil
	}
	return errors.New("JetStream is silent through it, and answers through another")
}

// asksJetStream asks for the account, which the leader of JetStream's servers answers.
func asksJetStream(ctx context.Context, conn *nats.Conn, most time.Duration) error {
	ctx, cancel := context.WithTimeout(ctx, most)
	defer cancel()
	js, err := jetstream.New(conn)
	if err == nil {
		_, err = js.AccountInfo(ctx)
	}
	return err
}

// worksElsewhere reports whether JetStream answers through a server other than the given one. The probe uses a
// connection that does not reconnect and ignores the servers that NATS advertises, so that its answer is about this
// one address. It costs up to two probeTimeMax for each address.
func (w *serverWatch) worksElsewhere(ctx context.Context, but string) bool {
	for _, url := range strings.Split(w.url, ",") {
		url = strings.TrimSpace(url)
		if url == "" || sameServer(url, but) || ctx.Err() != nil {
			continue
		}
		quiet := nats.ErrorHandler(func(*nats.Conn, *nats.Subscription, error) {})
		nc, err := nats.Connect(url, append(w.options("carillon probe"), quiet, nats.NoReconnect(), nats.IgnoreDiscoveredServers(), nats.Timeout(probeTimeMax))...)
		if err != nil {
			continue
		}
		err = asksJetStream(ctx, nc, probeTimeMax)
		nc.Close()
		if err == nil {
			return true
		}
	}
	return false
}

// sameServer reports whether two URLs have the same address.
func sameServer(a, b string) bool {
	address := func(url string) string {
		if _, rest, ok := strings.Cut(url, "://"); ok {
			url = rest
		}
		if _, rest, ok := strings.Cut(url, "@"); ok {
			url = rest
		}
		return url
	}
	return address(a) == address(b)
}

// leave moves all connections to one server to another one. A connection that has moved meanwhile is left alone. An
// error is logged only: the next inspection tries again.
func (b *Bus) leave(conn *nats.Conn, conns []*nats.Conn, why error) {
	url := conn.ConnectedUrl()
	b.opts.Logger.Warn("leaving a NATS server", slog.String("server", conn.ConnectedUrlRedacted()), slog.Any("reason", why))
	for _, c := range conns {
		if c.ConnectedUrl() != url {
			continue
		}
		if err := c.ForceReconnect(); err != nil {
			b.opts.Logger.Warn("a connection to NATS stays where it is", slog.Any("error", err))
		}
	}
	for _, d := range []*dispatch.NATS{b.dispatch, b.notices} {
		if d != nil {
			d.Leave(url)
		}
	}
}
