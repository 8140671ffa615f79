// Package bus connects a server to NATS: to the servers of others, or to one that it runs in this process, alone or as
// a member of a cluster. It waits for NATS at a start, leaves servers that are cut off, and checks what is around:
// other servers on the prefix, streams that capture requests, and where NATS is weaker than a cluster needs.
//
// A start runs through the files in this order: options.go says where NATS is; embedded.go starts the server in this
// process; absent.go waits for the first connection; founder.go makes empty nodes wait for a founder; await.go waits
// for JetStream, which only a cluster needs. Then surroundings.go claims the prefix (who.go, who_state.go), finds the
// log of a cluster (refuse_member.go reads it from the disk before the server starts) and the streams that capture
// requests (captures.go), and judges the servers (facts.go, check.go, weaknesses.go). Afterwards watch.go leaves
// servers that are cut off, and lost.go ends a member without JetStream.
//
// With rights, doorman.go decides who may connect to the embedded server, guest.go as whom, accounts.go has the accounts
// of tenants, and announce.go makes the servers of a cluster know each other's. tenant.go connects the dispatcher there.
// account_conns.go has the connections on which requests of tenants come, and pending.go bounds what clients do not read.
// js_guard.go has the requests of tenants to JetStream (js_requests.go) before JetStream has them, one line for each tenant
// (js_lanes.go), and decides which streams and consumers they make, by js_rule.go.
//
// In a cluster, proof.go has how peers prove who they are, strangers.go says why one was not let in, and demands.go asks a
// peer what it demands of a node without a proof.
//
// The package starts no goroutines of its own, apart from those of NATS, those that pass requests to JetStream on and one
// that asks a peer what it demands, for which Close waits, and the ones that [Surroundings.Watch] runs and waits for: the
// caller runs Watch, WatchServers and WatchJetStream, each in a goroutine, and ends them by their contexts. It does not interpret requests and does not elect leaders.
package bus

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"time"

	"github.com/nats-io/nats-server/v2/server"
	"github.com/nats-io/nats.go"

	"github.com/carillon-io/carillon/dispatch"
	"github.com/carillon-io/carillon/inbox"
	"github.com/carillon-io/carillon/natsfile"
)

// Bus owns the embedded server, if there is one, and the connections to NATS. Requests, launches and notices have a
// connection each, and the requests from the accounts of tenants have further ones, so that a flood of one kind, or of one
// tenant, never delays the others. Its methods are safe for concurrent use,
// except those that say otherwise. The embedded server and the URL are fixed when Open returns, so they are read
// without a lock. The list of connections only grows, during the start, in one goroutine.
type Bus struct {
	// as given; never changed
	opts     Options
	embedded *server.Server
	doorman  *doorman // nil: every client may connect to the embedded server
	guard    *jsGuard // nil: the same
	// unanswered counts what the embedded server keeps of requests without an answer.
	unanswered unanswered
	// addresses as clients on this machine use them; with an embedded server it is known only when that listens,
	// because its port may be drawn
	url string
	// the first connection: awaitNATS makes it, so that the others find NATS there
	api          *nats.Conn
	dispatch     *dispatch.NATS
	notices      *dispatch.NATS
	conns        []*nats.Conn // the connections that Connect made; Close ends them
	accountConns accountConns
	// answers empty nodes; nil on a node that is no founder
	founder   *inbox.Subscription
	strangers *strangers // nil: there is no embedded server with peers
}

// Open connects to NATS. It starts the embedded server, or waits until an outside one answers; in a cluster it waits
// until JetStream serves, however long that takes. ctx ends the wait. The error names what NATS or its operator
// refuses. The order is part of the contract: the answers to empty nodes begin before the wait for JetStream, because
// in a first start the founder and the empty nodes wait for each other's servers. After an error nothing is left
// running.
func Open(ctx context.Context, o Options) (_ *Bus, err error) {
	b, err := Embed(o)
	if err != nil {
		return nil, err
	}
	defer func() {
		if err != nil {
			b.Close()
		}
	}()
	if err := b.openGuard(); err != nil {
		return nil, err
	}
	if err := b.awaitNATS(ctx); err != nil {
		return nil, err
	}
	if err := b.answerFounder(); err != nil {
		return nil, err
	}
	if err := b.heedAccounts(); err != nil {
		return nil, err
	}
	if o.clustered() {
		if err := b.awaitJetStream(ctx); err != nil {
			return nil, err
		}
	}
	if o.Witness {
		return b, nil
	}
	for name, conn := range map[string]**dispatch.NATS{"carillon dispatch": &b.dispatch, "carillon notices": &b.notices} {
		if *conn, err = dispatch.ConnectNATS(b.url, b.options(name)...); err != nil {
			return nil, fmt.Errorf("connect to NATS at %s: %w", b.url, err)
		}
	}
	return b, ctx.Err()
}

// Connect makes a connection with a name that operators see in NATS. Close ends it. Not for concurrent use. It
// reconnects without end, since an operator who restarts NATS does not expect to restart its clients. While it is
// disconnected it buffers nothing, so a publication fails at once: a reply or a commit that left minutes later would
// be believed although its time is over.
func (b *Bus) Connect(name string) (*nats.Conn, error) {
	nc, err := b.connect(name)
	if err == nil {
		b.conns = append(b.conns, nc)
	}
	return nc, err
}

// connect makes a connection as Connect does, which the caller ends.
func (b *Bus) connect(name string) (*nats.Conn, error) {
	log := b.opts.Logger.With(slog.String("connection", name))
	var said echoes
	options := append(b.options(name),
		nats.ReconnectBufSize(-1),
		nats.ErrorHandler(func(_ *nats.Conn, sub *nats.Subscription, err error) {
			log := log
			if sub != nil { // the subscription that lost messages, or is forbidden
				log = log.With(slog.String("subject", sub.Subject))
			} else if !said.isNew(err, time.Now()) {
				return
			}
			log.Warn("NATS reports an error", slog.Any("error", err))
		}),
		nats.DisconnectErrHandler(func(_ *nats.Conn, err error) {
			if err != nil {
				log.Warn("lost the connection to NATS", slog.Any("error", err))
			}
		}),
		nats.ReconnectHandler(func(*nats.Conn) { log.Info("connected to NATS again") }))
	nc, err := nats.Connect(b.url, options...)
	if err != nil {
		return nil, fmt.Errorf("connect to NATS at %s: %w", b.url, err)
	}
	return nc, nil
}

// URL returns the addresses of the servers, as a client on this machine names them, separated by commas. This process
// itself reaches the embedded server without TLS, which protects no connection within a process.
func (b *Bus) URL() string {
	if b.embedded != nil && b.opts.ListenTLS != nil {
		return "tls://" + strings.TrimPrefix(b.url, "nats://")
	}
	return b.url
}

// API returns the connection on which requests are answered.
func (b *Bus) API() *nats.Conn { return b.api }

// Dispatch returns the connection on which runs are launched; nil in a witness.
func (b *Bus) Dispatch() *dispatch.NATS { return b.dispatch }

// Notices returns the connection on which events and dead letters are published; nil in a witness.
func (b *Bus) Notices() *dispatch.NATS { return b.notices }

// Conns returns the connections that there are, the one on which requests are answered first. Not for concurrent use
// with Connect. The first one stands for all in [Bus.WatchServers].
func (b *Bus) Conns() []*nats.Conn { return slices.Clone(b.conns) }

// connectQuietly does what Connect does, for requests that NATS may refuse: the errors of the connection are
// not logged. It reconnects without end as well.
func (b *Bus) connectQuietly(name string, more ...nats.Option) (*nats.Conn, error) {
	options := append(b.options(name), nats.ErrorHandler(func(*nats.Conn, *nats.Subscription, error) {}))
	nc, err := nats.Connect(b.url, append(options, more...)...)
	if err != nil {
		return nil, fmt.Errorf("connect to NATS at %s: %w", b.url, err)
	}
	b.conns = append(b.conns, nc)
	return nc, nil
}

// How connections notice that their server is gone, and how soon they try the next one. In a cluster a
// connection whose server is silent is given up after (pingsOutMax+1) * pingEvery, 6 s.
const (
	// The wait before the same server is tried again. With several addresses the wait is shorter and has no jitter,
	// because a takeover waits for the new connection, and the next address is another server.
	reconnectWait        = 200 * time.Millisecond
	reconnectWaitSeveral = 50 * time.Millisecond
	// The bound of one attempt to connect. With several addresses a host that is cut off, which refuses nothing, must
	// not use up the time in which another would have answered.
	dialTimeMax        = 5 * time.Second
	dialTimeMaxSeveral = time.Second
	pingEvery          = 2 * time.Second
	pingsOutMax        = 2
)

// options returns the options that all connections share: addresses, credentials, and when to change the server. The
// settings for several addresses and for a cluster come later in the list and overrule the earlier ones. A process
// without a cluster keeps the client's slow pings: no other node waits for it. A server that refuses the credentials for a
// while, as when an operator rotates them, does not end a connection for good.
func (b *Bus) options(name string) []nats.Option {
	o := b.opts
	options := []nats.Option{nats.Name(name), nats.ReconnectWait(reconnectWait), nats.Timeout(dialTimeMax), nats.MaxReconnects(-1), nats.IgnoreAuthErrorAbort()}
	if strings.Contains(o.URL, ",") {
		options = append(options, nats.ReconnectWait(reconnectWaitSeveral), nats.ReconnectJitter(0, 0), nats.Timeout(dialTimeMaxSeveral))
	}
	if o.clustered() {
		options = append(options, nats.PingInterval(pingEvery), nats.MaxPingsOutstanding(pingsOutMax))
	}
	if b.embedded != nil {
		options = append(options, nats.InProcessServer(b.embedded))
		if b.doorman != nil {
			options = append(options, nats.Token(b.doorman.own))
		}
	}
	if o.Creds != "" {
		options = append(options, natsfile.Creds(o.Creds))
	}
	if b.embedded != nil {
		return options // without TLS, which the settings for outside servers would ask for
	}
	return append(options, natsfile.TLS(o.TLSCA, o.TLSCert, o.TLSKey))
}

// Flush returns when the servers know this process's subscriptions. Without this, a caller that hears that the server
// is ready may send a request that NATS answers with "no responders". It waits for 10 s at most.
func (b *Bus) Flush(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, 10*time.Second)
	defer cancel()
	if err := b.api.FlushWithContext(ctx); err != nil {
		return fmt.Errorf("reach NATS at %s: %w", b.url, err)
	}
	return nil
}

// Close ends the connections, and then the embedded server, which first hands the leadership of its streams to its
// peers. The dispatcher closes its own connection; closing one twice does no harm. The connections go first, so that
// their own disconnection by the shutdown is not logged as a loss. It also closes a Bus that Open has only half made.
func (b *Bus) Close() {
	for _, conn := range b.conns {
		conn.Close()
	}
	b.accountConns.close()
	if b.guard != nil {
		b.guard.lanes.close()
	}
	for _, conn := range []*dispatch.NATS{b.dispatch, b.notices} {
		if conn != nil {
			conn.Close()
		}
	}
	if b.embedded != nil {
		b.embedded.Shutdown()
		b.embedded.WaitForShutdown()
	}
	if b.strangers != nil {
		b.strangers.demands.close()
	}
}

// errNATSNotReady is the error of a start whose embedded server does not come up.
var errNATSNotReady = errors.New("the embedded NATS server did not become ready; its log lines say why")
