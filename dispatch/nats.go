package dispatch

import (
	"errors"
	"fmt"
	"strings"
	"sync/atomic"
	"time"

	"github.com/nats-io/nats.go"

	"github.com/carillon-io/carillon/inbox"
)

// writeStuckAfter is the longest time that a write to the NATS server, or its answer to a PING, may
// take. After it the connection counts as lost, and the client connects to the next server.
const writeStuckAfter = 10 * time.Second

// NATS is the connection of a [Dispatcher] to NATS. It is separate from the connection that serves the
// API, so that a slow reader among the API's clients never delays a launch.
type NATS struct {
	conn    *nats.Conn
	up      chan struct{} // receives a token when the connection is restored
	denials *denials
	stuck   time.Duration // a server that does not answer a PING within this time is left

	// State that the callbacks record. Asking the client instead would block while it dials.
	connected  atomic.Bool
	reconnects atomic.Uint64

	lost atomic.Uint64 // number of times that the client lost its buffer
}

// Leave makes the client connect to another server if it is connected to the one at url. A server that
// is about to stop calls it for itself, so that launches do not wait for the loss to be detected.
func (n *NATS) Leave(url string) {
	if n.conn.ConnectedUrl() == url {
		_ = n.conn.ForceReconnect() // fails only on a closed connection
	}
}

// ConnectNATS connects to NATS; url may list several servers, separated by commas. The options say how
// to authenticate, which TLS to use, how to reach an embedded server (nats.InProcessServer), and which
// callbacks to call. No other exported function of this package has types of the NATS client in its
// signature.
//
// The options cannot change the following: the client tries to reconnect for ever; it buffers nothing
// while it is disconnected, so that no run is sent late and unnoticed; it closes a socket on which a
// write hangs; its inboxes are those to which no Carillon replies ([inbox.OfRuns]), so that no request to Carillon
// can answer a run; and it calls the package's own callbacks before the caller's.
func ConnectNATS(url string, options ...nats.Option) (*NATS, error) {
	o := nats.GetDefaultOptions()
	o.Servers = strings.FieldsFunc(url, func(r rune) bool { return r == ',' || r == ' ' })
	o.Name = "carillon-dispatch"
	for _, option := range options {
		if option == nil {
			continue
		}
		if err := option(&o); err != nil {
			return nil, fmt.Errorf("connect to NATS: %w", err)
		}
	}
	o.InboxPrefix = inbox.OfRuns
	o.AllowReconnect = true
	o.MaxReconnect = -1
	o.IgnoreAuthErrorAbort = true
	o.ReconnectBufSize = -1
	o.FlusherTimeout = writeStuckAfter
	o.ReconnectOnFlusherError = true

	n := &NATS{up: make(chan struct{}, 1), denials: newDenials(), stuck: writeStuckAfter}
	n.wrapCallbacks(&o)
	conn, err := o.Connect()
	if err != nil {
		return nil, fmt.Errorf("connect to NATS at %s: %w", url, err)
	}
	n.conn = conn
	if conn.IsConnected() {
		n.connected.Store(true) // the callback may run a little later
	}
	return n, nil
}

// wrapCallbacks makes the client call the package's callbacks before the caller's. The package's own only
// record: the client calls them on a goroutine that all of its callbacks share.
func (n *NATS) wrapCallbacks(o *nats.Options) {
	onError, onDisconnect := o.AsyncErrorCB, o.DisconnectedErrCB
	o.AsyncErrorCB = func(c *nats.Conn, s *nats.Subscription, err error) {
		if errors.Is(err, nats.ErrPermissionViolation) {
			n.denials.note(err)
		}
		if onError != nil {
			onError(c, s, err)
		}
	}
	o.DisconnectedErrCB = func(c *nats.Conn, err error) {
		n.connected.Store(false)
		if onDisconnect != nil {
			onDisconnect(c, err)
		}
	}
	o.ConnectedCB = n.isUp(0, o.ConnectedCB)
	o.ReconnectedCB = n.isUp(1, o.ReconnectedCB)
}

// isUp returns the callback for a new or restored connection. Refusals of the earlier connection are
// dropped before the publisher is woken, so that none is claimed by a message of the new one.
func (n *NATS) isUp(reconnects uint64, next nats.ConnHandler) nats.ConnHandler {
	return func(c *nats.Conn) {
		n.connected.Store(true)
		n.reconnects.Add(reconnects)
		n.denials.reset()
		signal(n.up)
		if next != nil {
			next(c)
		}
	}
}

// Close closes the connection. [Dispatcher.Close] calls it; the caller calls it only for a connection
// that no dispatcher owns.
func (n *NATS) Close() { n.conn.Close() }

func (n *NATS) stats() NATSStats {
	return NATSStats{
		Connected:  n.connected.Load(),
		Reconnects: n.reconnects.Load(),
		Denied:     n.denials.count(),
	}
}
