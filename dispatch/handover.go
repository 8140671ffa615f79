package dispatch

import (
	"context"
	"errors"
	"time"

	"github.com/nats-io/nats.go"
)

// life numbers the stretches of time in which nothing that was handed to the client can have been
// lost unnoticed: it changes with each reconnect and with each failed write.
func (n *NATS) life() uint64 { return n.conn.Stats().Reconnects + n.lost.Load() }

// lifePoll is how often whileAlive looks at the connection.
const lifePoll = 50 * time.Millisecond

// whileAlive returns a context that ends, with the cause errUnconfirmed, soon after a life is over:
// what was asked in it will hardly be answered. The caller ends it too, by stop.
func (n *NATS) whileAlive(ctx context.Context, life uint64) (alive context.Context, stop func()) {
	alive, end := context.WithCancelCause(ctx)
	go func() {
		tick := time.NewTicker(lifePoll)
		defer tick.Stop()
		for n.connected.Load() && n.life() == life {
			select {
			case <-tick.C:
			case <-alive.Done():
				return
			}
		}
		end(errUnconfirmed)
	}()
	return alive, func() { end(context.Canceled) }
}

// publish hands a message to the client. An error that is neither isDown nor isRefusal means that a
// write failed, and the client has dropped its buffer: this message and some before it, whoever
// published them. Their life is over then.
func (n *NATS) publish(m *nats.Msg) error {
	err := n.conn.PublishMsg(m)
	if err != nil && !isDown(err) && !isRefusal(err) {
		n.lost.Add(1)
		n.leave()
	}
	return err
}

// leave gives a connection up, because there is no telling what its server will see of it.
func (n *NATS) leave() {
	_ = n.conn.ForceReconnect() // fails only on a closed connection, where it is not needed
}

// isDown tells whether the client took nothing because it has no connection.
func isDown(err error) bool {
	return errors.Is(err, nats.ErrReconnectBufExceeded) || errors.Is(err, nats.ErrConnectionClosed) ||
		errors.Is(err, nats.ErrConnectionDraining) || errors.Is(err, nats.ErrConnectionReconnecting)
}

// isRefusal tells whether the client took nothing because it does not like the message.
func isRefusal(err error) bool {
	return errors.Is(err, nats.ErrMaxPayload) || errors.Is(err, nats.ErrBadSubject) ||
		errors.Is(err, nats.ErrBadHeaderMsg) || errors.Is(err, nats.ErrHeadersNotSupported)
}
