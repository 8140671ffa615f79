package dispatch

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"time"

	"github.com/carillon-io/carillon/job"
	"github.com/nats-io/nats.go"
)

// denialLogEvery is the least time between two log lines about missing permissions, so that a target
// without permission does not fill the log. The line has the count of all refusals.
const denialLogEvery = time.Second

// errUnconfirmed is the failure of an attempt of which it is unknown whether it arrived.
var errUnconfirmed = errors.New("the connection to NATS was lost before the server confirmed the message; it may have arrived")

// confirmPause is the default of Options.ConfirmPause: a tenth of the time that the outcome of a run of a cluster's only shard
// waits for others before its commit.
const confirmPause = 5 * time.Millisecond

// confirmAhead is how long before a multiple of the pause a PING leaves, at most half of the pause: what happens at the multiples
// finds the ends that it confirms.
const confirmAhead = 3 * time.Millisecond

// hurriedBelow is the least timeout of an attempt that waits for the next PING: a shorter one could pass meanwhile.
const hurriedBelow = 500 * time.Millisecond

// runConfirmer confirms published messages: the server answers a PING only after it has received all
// earlier messages on the connection. One PING confirms all messages since the last, while the publisher
// continues. It runs until stop is closed.
//
// It has a goroutine of its own because it waits a round trip for each PING: on the publisher's, every
// launch would wait with it.
func (k *link) runConfirmer(stop <-chan struct{}) {
	var sent []published
	var last time.Time // when the last PING was answered
	pause := time.NewTimer(0)
	defer pause.Stop()
	for {
		select {
		case <-k.sent.wake:
		case <-stop:
			return
		}
		if rest := untilConfirm(time.Now(), last, k.pause); rest > 0 && !k.ledger.isCrowded() {
			pause.Reset(rest)
			select {
			case <-k.hurry:
			case <-pause.C:
			case <-stop:
				return
			}
		}
		sent = k.sent.takeAll(sent)
		if len(sent) > 0 {
			k.confirm(sent)
			last = time.Now()
		}
	}
}

// untilConfirm returns how long the next PING waits after the last one was answered: until one leaves by the wall clock, and not at
// all after a whole pause without any.
func untilConfirm(now, last time.Time, pause time.Duration) time.Duration {
	if now.Sub(last) >= pause {
		return 0
	}
	at := now.Add(min(confirmAhead, pause/2))
	return pause - time.Duration(at.UnixNano())%pause
}

// Hurry makes the next confirmations come at once, of all attempts whose messages were published before the call. Whoever waits
// for their ends, as before a hand-over, calls it; again, if some are published afterwards.
func (d *Dispatcher) Hurry() {
	if d.link != nil {
		signal(d.link.hurry)
	}
	if d.tenants != nil {
		for _, l := range *d.tenants.byTenant.Load() {
			signal(l.hurry)
		}
	}
}

// confirm concludes the attempts in sent: as delivered when the server has answered a PING that followed
// them, otherwise as failed.
//
// Three conditions make a PONG a proof: the message was published in the life in which the PING was sent,
// that life lasted until the PONG, and the server has not refused the message. For the kinds with a reply
// the PONG proves too little: they are failed here, and succeed only by their reply. What NATS said of the messages before the PONG,
// that nobody receives them, is taken in before.
func (k *link) confirm(sent []published) {
	life := k.nats.life()
	if err := k.nats.conn.FlushTimeout(k.nats.stuck); err != nil {
		k.abandon(sent, err)
		return
	}
	steady := k.nats.life() == life // otherwise the PONG may belong to a later connection than the messages
	k.nats.denials.awaitNoted(k.nats.conn.LastError())
	denied := k.nats.denials.any()
	k.takeReplies(sent)
	for _, p := range sent {
		switch {
		case k.replies.isWithdrawn(p.number):
		case !steady || p.life != life:
			k.ledger.finish(p.attempt, errUnconfirmed)
		case denied && k.nats.denials.claim(p.attempt.delivery.Target.Subject):
			k.deny(p.attempt)
		case p.attempt.kind() == job.TargetNATS:
			k.ledger.finish(p.attempt, nil)
		}
	}
}

// abandon fails the attempts that were not confirmed. It closes the connection to a server that does not
// answer, because it is unknown which of the following messages that server would receive. They may have
// arrived nevertheless, so a target may receive the run again.
func (k *link) abandon(sent []published, err error) {
	if errors.Is(err, nats.ErrTimeout) {
		k.logger.Warn("NATS server does not answer; leaving it", "after", k.nats.stuck)
		k.nats.leave()
	}
	for _, p := range sent {
		if !k.replies.isWithdrawn(p.number) {
			k.ledger.finish(p.attempt, errUnconfirmed)
		}
	}
}

// takeReplies waits until the replies that have arrived are judged, if one of the messages is of a kind without replies and has a reply
// subject all the same.
func (k *link) takeReplies(sent []published) {
	if !slices.ContainsFunc(sent, func(p published) bool { return p.number != 0 && p.attempt.kind() == job.TargetNATS }) {
		return
	}
	judged := make(chan struct{})
	if k.nats.conn.Barrier(func() { close(judged) }) != nil {
		return // the connection is closed
	}
	select {
	case <-judged:
	case <-time.After(k.nats.stuck):
	}
}

// deny fails an attempt that the server did not permit, and logs the subject at most once per
// denialLogEvery.
func (k *link) deny(a *attempt) {
	subject := a.delivery.Target.Subject
	if now := time.Now(); now.Sub(k.denialLogged) >= denialLogEvery {
		k.denialLogged = now
		attrs := append(a.delivery.LogAttrs(), slog.String("subject", subject), slog.Uint64("denied", k.nats.denials.count()))
		k.logger.LogAttrs(context.Background(), slog.LevelWarn, "NATS does not permit publishing", attrs...)
	}
	k.ledger.finish(a, fmt.Errorf("the NATS server does not permit publishing to %q", subject))
}
