package dispatch

import (
	"errors"
	"fmt"

	"github.com/nats-io/nats.go"
)

// groupMax is how many messages are published before the confirmer hears of them. Smaller confirms
// a burst earlier; larger asks the client for less.
const groupMax = 256

// pruneMin is the shortest backlog that is searched for attempts that have ended meanwhile.
const pruneMin = 1024

// runPublisher publishes what is lined up, in order, until stop is closed. While the connection is
// down it holds everything back, and the ledger ends what waits too long.
func (k *link) runPublisher(stop <-chan struct{}) {
	var spare []*attempt
	for {
		select {
		case <-k.outbox.wake:
		case <-k.up:
			k.replies.failStale(k.life())
		case <-stop:
			return
		}
		fresh := k.outbox.takeAll(spare)
		if len(k.backlog) == 0 {
			k.backlog, spare = fresh, k.backlog
		} else {
			k.backlog, spare = append(k.backlog, fresh...), fresh
		}
		k.publishBacklog()
	}
}

func (k *link) publishBacklog() {
	for i := 0; i < len(k.backlog); {
		n := min(i+groupMax, len(k.backlog))
		done := k.publishGroup(k.backlog[i:n])
		if i += done; i < n {
			k.holdBack(i)
			return
		}
	}
	clear(k.backlog)
	k.backlog = k.backlog[:0]
	if k.isDown {
		k.isDown = false
		k.logger.Info("connection to NATS is back; launches go on")
	}
}

// holdBack keeps the backlog from i on for when the connection is back.
func (k *link) holdBack(i int) {
	if !k.isDown {
		k.isDown = true
		k.logger.Warn("connection to NATS is down; launches to it wait")
	}
	rest := copy(k.backlog, k.backlog[i:])
	clear(k.backlog[rest:])
	k.backlog = k.backlog[:rest]
	if len(k.backlog) >= k.pruneAt {
		k.backlog = k.ledger.dropTold(k.backlog)
		k.pruneAt = 2*len(k.backlog) + pruneMin
	}
}

// publishGroup publishes attempts in order and passes them to the confirmer. It returns how many it
// is done with, which is fewer than all if the connection is down.
func (k *link) publishGroup(attempts []*attempt) int {
	life := k.life()
	done := 0
	for _, a := range attempts {
		if !k.publishOne(a, life) {
			break
		}
		done++
	}
	if len(k.group) > 0 {
		k.sent.push(k.group...)
		clear(k.group)
		k.group = k.group[:0]
	}
	return done
}

// publishOne hands the message to the client. It returns false if the connection is down and the
// attempt has to wait.
func (k *link) publishOne(a *attempt, life uint64) bool {
	reply := k.replies.expect(a, life)
	if !k.ledger.begin(a, nil) {
		k.replies.forget(a)
		return true
	}
	err := k.conn.PublishMsg(k.message.of(a.delivery, reply))
	k.message.drop(a.delivery)
	switch {
	case err == nil:
		k.group = append(k.group, published{a, life})
	case isDown(err):
		k.replies.forget(a)
		k.ledger.retreat(a)
		return false
	case isRefusal(err):
		k.ledger.finish(a, fmt.Errorf("the NATS client refused the message: %w", err))
	default:
		// A write failed, and the client has dropped its buffer: this message and some before it.
		// The confirmer fails those, because their life is over.
		k.lost.Add(1)
		k.ledger.finish(a, errUnconfirmed)
		_ = k.conn.ForceReconnect() // fails only on a closed connection, where it is not needed
	}
	return true
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
