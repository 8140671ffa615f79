package inbox

import (
	"time"

	"github.com/nats-io/nats.go"
)

// Subscription is a subscription of a [Desk].
type Subscription struct {
	*nats.Subscription
	conn *nats.Conn
}

// Drain is [Drain] of this subscription.
func (s *Subscription) Drain() error { return Drain(s.conn, s.Subscription) }

// drainLook is the time between two looks at a subscription that ends.
const drainLook = 10 * time.Millisecond

// Drain ends a subscription of a connection: the server sends it nothing more, and what the client has received by then is still
// handled. It returns at once; [nats.Subscription.IsValid] is false once all is handled. It may be called again. It is safe for
// concurrent use.
//
// [nats.Subscription.Drain] does not end a subscription while the client reconnects: the client subscribes again then, with the
// new connection, and forgets the subscription without a word to the server (nats.go 1.55, Conn.unsubscribe and checkDrained). The
// server would go on to send messages, which are read no more; of a queue group's messages a part would be lost for as long as the
// connection lasts. So Drain ends the subscription with each connection anew, and while there is none it lets the client forget it.
func Drain(conn *nats.Conn, sub *nats.Subscription) error {
	e := &ending{conn: conn, sub: sub}
	err := e.look()
	if err == nil {
		go e.run()
	}
	return err
}

// ending is the end of a subscription that may still have messages.
type ending struct {
	conn  *nats.Conn
	sub   *nats.Subscription
	begun bool   // it has ended with the connection
	with  uint64 // that was made by the reconnect of this number; 0: the first one
}

// run looks at the subscription until it has ended, or the connection is closed. If the client has forgotten it with a connection with
// which it was not ended, only a new connection ends it.
func (e *ending) run() {
	tick := time.NewTicker(drainLook)
	defer tick.Stop()
	for e.sub.IsValid() {
		<-tick.C
		_ = e.look() // it fails only once the subscription or the connection has ended
	}
	if e.begun && e.conn.IsConnected() && e.conn.Stats().Reconnects != e.with {
		_ = e.conn.ForceReconnect()
	}
}

// look ends the subscription with the present connection. While there is none, nothing more comes, and the client forgets the
// subscription once it has handled what came.
func (e *ending) look() error {
	with := e.conn.Stats().Reconnects
	if e.conn.IsConnected() {
		if e.begun && with == e.with {
			return nil
		}
		e.begun, e.with = true, with
		return e.sub.Drain()
	}
	if waiting, _, err := e.sub.Pending(); err == nil && waiting > 0 {
		return nil
	}
	e.begun, e.with = true, with
	return e.sub.Unsubscribe()
}
