package bus

import (
	"fmt"
	"net"
	"os"
	"path/filepath"
	"time"

	"github.com/nats-io/nats-server/v2/server"
)

// The settings of the embedded server.
const (
	// maxPayload is the largest message that the server accepts, in bytes: a bulk registration of thousands of jobs is
	// one message. The server keeps a message of this size whole in memory for each connection that sends one. The
	// bound is above payloadMin, so that a commit always fits.
	maxPayload = 4 << 20
	// clusterUser is the user name with which embedded servers with certificates connect to each other, if there is a
	// password besides. Only the password is secret, so the name needs no option.
	clusterUser = "carillon"
	// routeErrorsEvery is the number of failed attempts to reach a peer, a second apart, that make one log line. A
	// peer that is taken out for good then costs one line a minute.
	routeErrorsEvery = 60
	// syncEvery is the interval at which the server of a node alone syncs its streams.
	syncEvery = time.Second
	// keepEvery is that interval in a cluster, where each write is synced before it is acknowledged. What is left for the
	// interval is upkeep: files that nothing writes are closed, and holes in files are removed. It is what NATS takes for
	// sync_interval: always. The server has a timer for each of its streams and another for the log of each, so at a second an
	// idle node with sixteen shards would wake more than thirty times a second.
	keepEvery = 2 * time.Minute
	// handshakeMax bounds the TLS handshake of a connection, which holds a place meanwhile. HTTP has the same bound.
	handshakeMax = 5 * time.Second
)

// Embed starts a NATS server with JetStream in this process, unless the options name outside servers. It makes no
// connection, and waits for no peer. A caller that needs connections calls [Open] instead. After an error nothing is
// left running.
func Embed(o Options) (*Bus, error) {
	b := &Bus{opts: o, url: o.URL}
	if o.URL != "" {
		return b, nil
	}
	if err := b.embed(); err != nil {
		b.Close()
		return nil, err
	}
	return b, nil
}

// The addresses are tried before the server starts, because the server reports a port in use only in its log, and its
// own wait would end in a message without a cause. The server may still lose the port between the two; then the wait
// fails.
func (b *Bus) embed() error {
	so, err := b.opts.serverOptions()
	if err != nil {
		return err
	}
	if err := probe("NATS", b.opts.Listen); err != nil {
		return err
	}
	if b.opts.clustered() {
		if err := probe("NATS peers", b.opts.ClusterListen); err != nil {
			return err
		}
	}
	if err := b.opts.refuseNamesake(); err != nil {
		return err
	}
	// The server would let the group read it; streams may contain payloads, and in a cluster the log.
	if err := os.MkdirAll(so.StoreDir, 0o700); err != nil {
		return fmt.Errorf("make the directory of the embedded NATS server: %w", err)
	}
	if b.opts.Admit != nil {
		b.doorman = newDoorman(b.opts)
		so.CustomClientAuthentication, so.AlwaysEnableNonce, so.WriteDeadline = b.doorman, true, writeMax
		so.SystemAccount = server.DEFAULT_SYSTEM_ACCOUNT // from the start: see guardJetStream
		// For streams of an earlier release that take batches; see jsRule.check.
		so.JetStreamLimits.MaxBatchInflightPerStream, so.JetStreamLimits.MaxBatchSize = 1, 1
		if err := setAccounts(so, b.opts.Tenants); err != nil {
			return err
		}
	}
	if b.embedded, err = server.NewServer(so); err != nil {
		return fmt.Errorf("start the embedded NATS server: %w", err)
	}
	if b.doorman != nil {
		if err := guardJetStream(b.embedded); err != nil {
			return err
		}
	}
	if b.opts.clustered() {
		b.strangers = &strangers{proof: b.opts.proof()}
	}
	b.embedded.SetLoggerV2(&natsLogger{log: b.opts.Logger, strangers: b.strangers}, false, false, false)
	if b.doorman != nil {
		b.doorman.server, b.doorman.accounts = b.embedded, newAccounts(b.embedded, b.opts)
	}
	b.embedded.Start()
	if !b.embedded.ReadyForConnections(10 * time.Second) {
		return errNATSNotReady
	}
	b.url = "nats://" + Reachable(b.embedded.Addr())
	return nil
}

// serverOptions returns the options of the embedded server. Without a cluster the server syncs once a second: the log
// of such a node is in its own files, so its streams contain only events and the targets' messages. With a cluster the
// server is named after the node, because JetStream identifies a peer by that name.
func (o Options) serverOptions() (*server.Options, error) {
	host, port, err := splitAddr(o.Listen)
	if err != nil {
		return nil, fmt.Errorf("listen for NATS on %q: %w, such as 127.0.0.1:4222", o.Listen, err)
	}
	if port == 0 {
		port = server.RANDOM_PORT
	}
	so := &server.Options{
		TLSConfig: o.ListenTLS, TLSTimeout: handshakeMax.Seconds(),
		ServerName: "carillon", Host: host, Port: port, NoSigs: true, MaxPayload: maxPayload, MaxConn: o.ConnectionsMax,
		JetStream: true, StoreDir: o.StoreDir, SyncInterval: syncEvery,
	}
	if !o.clustered() {
		return so, nil
	}
	// What the stream acknowledges must be on the disks of a majority, because a takeover relies on the
	// acknowledgement.
	so.ServerName, so.SyncAlways, so.SyncInterval = o.Node, true, keepEvery
	so.ConnectErrorReports, so.ReconnectErrorReports = routeErrorsEvery, routeErrorsEvery
	return so, o.setRoutes(so)
}

// streamDir returns the directory in which an embedded server with the directory store keeps a stream. This is the
// layout of the server's file store; [RefuseMember] reads it while no server runs.
func streamDir(store, name string) string {
	return filepath.Join(store, "jetstream", server.DEFAULT_GLOBAL_ACCOUNT, "streams", name)
}

// setRoutes configures the connections between the server and its peers. A silent peer is given up after the same time
// as a silent connection, see pingEvery.
func (o Options) setRoutes(so *server.Options) error {
	host, port, err := splitAddr(o.ClusterListen)
	if err != nil {
		return fmt.Errorf("listen for NATS peers on %q: %w", o.ClusterListen, err)
	}
	so.Cluster = server.ClusterOpts{
		Name: o.ClusterName, Host: host, Port: port, PingInterval: pingEvery, MaxPingsOut: pingsOutMax,
	}
	so.Cluster.TLSTimeout = handshakeMax.Seconds()
	user, err := o.proveRoutes(so)
	if err != nil {
		return err
	}
	// A route that is listed twice would count as another peer, and the first election would wait for it.
	seen := map[string]bool{}
	for _, route := range o.Routes {
		u, err := routeURL(route)
		if err != nil {
			return err
		}
		if seen[u.Host] {
			continue
		}
		seen[u.Host] = true
		u.User = user
		so.Routes = append(so.Routes, u)
	}
	return nil
}

// Seats returns the name of the embedded server, and a function that returns which server leads each stream, as far as the
// embedded server knows, which keeps a copy of it; "" and nil without an embedded server. A process moves the leadership of its
// streams away from servers that end with a node, so that commits do not wait for an election.
func (b *Bus) Seats() (name string, leaders func() map[string]string) {
	if b.embedded == nil {
		return "", nil
	}
	return b.embedded.Name(), b.leaders
}

// leaders returns the servers that lead streams, by the name of the stream.
func (b *Bus) leaders() map[string]string {
	detail, err := b.embedded.JszAccount(&server.JSzOptions{Account: server.DEFAULT_GLOBAL_ACCOUNT, Streams: true})
	if err != nil {
		return nil // JetStream is not up
	}
	by := make(map[string]string, len(detail.Streams))
	for i := range detail.Streams {
		if at := detail.Streams[i].Cluster; at != nil {
			by[detail.Streams[i].Name] = at.Leader
		}
	}
	return by
}

// Addrs returns the addresses on which the embedded server listens, for clients and for peers; none without one.
func (b *Bus) Addrs() []net.Addr {
	if b.embedded == nil {
		return nil
	}
	addrs := []net.Addr{b.embedded.Addr()}
	if peers := b.embedded.ClusterAddr(); peers != nil {
		addrs = append(addrs, peers)
	}
	return addrs
}

// EmbeddedState is the state of the embedded server.
type EmbeddedState struct {
	Clients   int  // connections of clients, this process's own included
	Routes    int  // connections to peers
	IsCurrent bool // its JetStream serves, and knows what the leader of JetStream knows
	IsLeader  bool // it leads JetStream
}

// Embedded returns the state of the embedded server, and reports whether there is one.
func (b *Bus) Embedded() (state EmbeddedState, ok bool) {
	s := b.embedded
	if s == nil {
		return state, false
	}
	return EmbeddedState{
		Clients: s.NumClients(), Routes: s.NumRoutes(),
		IsCurrent: s.JetStreamEnabled() && s.JetStreamIsCurrent(), IsLeader: s.JetStreamIsLeader(),
	}, true
}

// probe returns an error if an address is taken. The embedded server itself would only log that. It closes the
// listener again, so it proves only that the address was free a moment ago.
func probe(what, addr string) error {
	l, err := net.Listen("tcp", addr)
	if err != nil {
		return fmt.Errorf("listen for %s on %s: %w", what, addr, err)
	}
	return l.Close()
}
