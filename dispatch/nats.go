package dispatch

import (
	"errors"
	"fmt"
	"strings"
	"sync/atomic"
	"time"

	"github.com/nats-io/nats.go"
)

// writeStuckAfter is how long a write to the NATS server, or the server's answer to a PING, may take.
// Then the connection counts as lost, and the client goes to the next server.
const writeStuckAfter = 10 * time.Second

// NATS is a connection of a [Dispatcher] to NATS. It is separate from the one that serves the API, so
// that a client of the API that reads slowly never delays a launch.
type NATS struct {
	conn    *nats.Conn
	up      chan struct{} // gets a token when the connection is back
	denials *denials
	stuck   time.Duration // a server that does not answer a PING for so long is left

	// What the callbacks know. To ask the client would mean to wait while it dials.
	connected  atomic.Bool
	reconnects atomic.Uint64

	lost atomic.Uint64 // times that the client lost what it had buffered
}

// ConnectNATS connects to NATS; url may list several servers, separated by commas. This is the one place where types of the NATS client cross the
// surface of the package: the options say how to authenticate, which TLS to use, how to reach an
// embedded server (nats.InProcessServer), and which callbacks the caller wants to have.
//
// Some things are so whatever the options say: the connection tries for ever to come back; it buffers
// nothing while it is down, so that no run leaves late and unnoticed; it gives up a socket on which a
// write hangs; and the caller's callbacks are called after the package's own.
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
		n.connected.Store(true) // the callback may come a little later
	}
	return n, nil
}

// wrapCallbacks puts the package's callbacks before those of the caller.
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

// isUp returns a callback for a new connection.
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

// Close closes the connection. The dispatcher does it; only a connection that no dispatcher took has
// to be closed by hand.
func (n *NATS) Close() { n.conn.Close() }

func (n *NATS) stats() NATSStats {
	return NATSStats{
		Connected:  n.connected.Load(),
		Reconnects: n.reconnects.Load(),
		Denied:     n.denials.count(),
	}
}
