package dispatch

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"time"

	"github.com/carillon-io/carillon/job"
	"github.com/nats-io/nats.go"
)

// denialLogEvery keeps a target without permission from filling the log.
const denialLogEvery = time.Second

// errUnconfirmed is the failure of an attempt whose fate is unknown.
var errUnconfirmed = errors.New("the connection to NATS was lost before the server confirmed the message; it may have arrived")

// runConfirmer asks the server, by a PING, whether it has what was published, while the publisher goes
// on; one PING stands for all messages since the last. It runs until stop is closed.
func (k *link) runConfirmer(stop <-chan struct{}) {
	var sent []published
	for {
		select {
		case <-k.sent.wake:
		case <-stop:
			return
		}
		sent = k.sent.takeAll(sent)
		if len(sent) > 0 {
			k.confirm(sent)
		}
	}
}

func (k *link) confirm(sent []published) {
	life := k.nats.life()
	if err := k.nats.conn.FlushTimeout(k.nats.stuck); err != nil {
		k.abandon(sent, err)
		return
	}
	steady := k.nats.life() == life // or the PONG may belong to another connection than the messages
	k.nats.denials.settle(k.nats.conn.LastError())
	denied := k.nats.denials.any()
	for _, p := range sent {
		switch {
		case !steady || p.life != life:
			k.ledger.finish(p.attempt, errUnconfirmed)
		case denied && k.nats.denials.claim(p.attempt.delivery.Target.Subject):
			k.deny(p.attempt)
		case p.attempt.kind() == job.TargetNATS:
			k.ledger.finish(p.attempt, nil)
		}
	}
}

// abandon fails what was not confirmed. A server that does not answer is left, because there is no
// telling which of the following messages it will see.
func (k *link) abandon(sent []published, err error) {
	if errors.Is(err, nats.ErrTimeout) {
		k.logger.Warn("NATS server does not answer; leaving it", "after", k.nats.stuck)
		k.nats.leave()
	}
	for _, p := range sent {
		k.ledger.finish(p.attempt, errUnconfirmed)
	}
}

func (k *link) deny(a *attempt) {
	subject := a.delivery.Target.Subject
	if now := time.Now(); now.Sub(k.denialLogged) >= denialLogEvery {
		k.denialLogged = now
		attrs := append(a.delivery.LogAttrs(), slog.String("subject", subject), slog.Uint64("denied", k.nats.denials.count()))
		k.logger.LogAttrs(context.Background(), slog.LevelWarn, "NATS does not permit publishing", attrs...)
	}
	k.ledger.finish(a, fmt.Errorf("the NATS server does not permit publishing to %q", subject))
}
