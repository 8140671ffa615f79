package dispatch

import (
	"context"
	"errors"
	"time"

	"github.com/nats-io/nats.go"
)

// life numbers the periods in which the client cannot have lost a message without notice: it changes at
// each reconnect and at each failed write. Messages published and confirmed in the same life have arrived.
// Both counters only grow, so a sum that is equal has equal parts.
func (n *NATS) life() uint64 { return n.conn.Stats().Reconnects + n.lost.Load() }

// lifePoll is how often whileAlive checks the connection. A longer time would delay the failure of a round
// of announcements after a loss, and nothing else: launches do not wait for it.
const lifePoll = 50 * time.Millisecond

// whileAlive returns a context that ends, with the cause errUnconfirmed, soon after the given life is
// over, since requests made in it are unlikely to be answered. The caller must call stop when it no
// longer needs the context.
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

// publish passes a message to the client. An error that is neither isDown nor isRefusal means that a
// write failed and the client has dropped its buffer: this message and some before it, also those of
// other publishers. Their life is over then.
func (n *NATS) publish(m *nats.Msg) error {
	err := n.conn.PublishMsg(m)
	if err != nil && !isDown(err) && !isRefusal(err) {
		n.lost.Add(1)
		n.leave()
	}
	return err
}

// leave drops the connection and makes the client connect anew, to another server if there is one. It is
// called when it is unknown which messages the server will receive.
func (n *NATS) leave() {
	_ = n.conn.ForceReconnect() // fails only on a closed connection, where it is not needed
}

// isDown reports whether the client did not accept the message because it has no connection.
func isDown(err error) bool {
	return errors.Is(err, nats.ErrReconnectBufExceeded) || errors.Is(err, nats.ErrConnectionClosed) ||
		errors.Is(err, nats.ErrConnectionDraining) || errors.Is(err, nats.ErrConnectionReconnecting)
}

// isRefusal reports whether the client did not accept the message because the message is invalid or too
// large.
func isRefusal(err error) bool {
	return errors.Is(err, nats.ErrMaxPayload) || errors.Is(err, nats.ErrBadSubject) ||
		errors.Is(err, nats.ErrBadHeaderMsg) || errors.Is(err, nats.ErrHeadersNotSupported)
}
