package dispatch

import (
	"context"
	"errors"
	"fmt"

	"github.com/carillon-io/carillon/job"
	"github.com/nats-io/nats.go"
)

// round is a group of announcements that are published together and then confirmed together: one PING
// confirms all dead letters, and the acknowledgements of the events arrive meanwhile.
//
// Invariant: open is the number of announcements that are pending.
//
// A round lives on the goroutine that called Announce. It ends before the next one begins, so
// acknowledgements are distinguished by their tokens alone.
type round struct {
	*Announcer
	group   []Announcement
	life    uint64   // of the connection, when the round began
	first   uint64   // number in the reply subject of the first announcement; the others follow
	secrets []uint64 // in the reply subjects
	sent    int      // number of announcements at the front that are published
	pending []bool   // whether the event is published and not yet acknowledged
	errs    []error
	open    int
}

// newRound returns a round of announcements, with reply subjects that no earlier round has used.
func (a *Announcer) newRound(group []Announcement) *round {
	first := a.last + 1
	a.last += uint64(len(group))
	r := &round{
		Announcer: a, group: group, life: a.nats.life(), first: first, secrets: make([]uint64, len(group)),
		pending: make([]bool, len(group)), errs: make([]error, len(group)),
	}
	for i := range r.secrets {
		r.secrets[i] = a.random.Uint64()
	}
	return r
}

// token returns what an acknowledgement of an announcement has in its subject.
func (r *round) token(i int) replyToken {
	return replyToken{number: r.first + uint64(i), secret: r.secrets[i]}
}

// publish passes the announcements to the NATS client until one fails. An error means that the connection
// is lost; then all messages of the round may be lost too. After another error it stops as well, so that
// the order of announcements is kept for those before it; they are still confirmed.
func (r *round) publish(ctx context.Context) error {
	for i := range r.group {
		switch err := r.publishOne(ctx, i); {
		case errors.Is(err, errDown), errors.Is(err, errUnconfirmed):
			return err
		case err != nil:
			r.errs[i] = err
			return nil
		}
		r.sent++
	}
	return nil
}

// publishOne publishes the dead letter and the event of an announcement, as far as it has them. It makes
// the stream ready before the first event.
func (r *round) publishOne(ctx context.Context, i int) error {
	n := &r.group[i]
	if n.Dead {
		if err := r.publishDead(n); err != nil {
			return handoverError(err)
		}
	}
	if !n.Event || !r.events.Enabled {
		return nil
	}
	if err := r.prepare(ctx); err != nil {
		return err
	}
	m := r.eventMessage(n, r.token(i).subject(r.inbox))
	if err := r.nats.publish(m); err != nil {
		return handoverError(err)
	}
	r.pending[i] = true
	r.open++
	return nil
}

// publishDead publishes a dead letter. It publishes one that is too large without its payload; otherwise
// that letter would block all later announcements for ever.
func (r *round) publishDead(n *Announcement) error {
	m := r.deadLetter(n)
	err := r.nats.publish(m)
	if errors.Is(err, nats.ErrMaxPayload) {
		err = r.nats.publish(withoutPayload(m))
	}
	return err
}

// handoverError returns the error to report for an error of [NATS.publish].
func handoverError(err error) error {
	switch {
	case isDown(err):
		return errDown
	case isRefusal(err):
		return fmt.Errorf("the NATS client refused the message: %w", err)
	default:
		return errUnconfirmed
	}
}

// confirm waits until the server has received all messages of the round, and fails those that it did not
// permit. After an error it is unknown of every message whether the server has it. It comes before gather,
// because a refusal for lack of permission is never acknowledged: gather would wait for it until the time
// is over.
func (r *round) confirm(ctx context.Context) error {
	if r.sent == 0 {
		return nil
	}
	if err := r.nats.conn.FlushWithContext(ctx); err != nil {
		cause := context.Cause(ctx)
		switch {
		case cause == nil:
			return errUnconfirmed
		case errors.Is(cause, errSilent): // not the caller's deadline but ours: the server hangs
			r.nats.leave()
		}
		return cause
	}
	if r.nats.life() != r.life {
		return errUnconfirmed // the connection changed, so the PONG does not confirm the messages
	}
	r.nats.denials.awaitNoted(r.nats.conn.LastError())
	if r.nats.denials.any() {
		r.claimDenials()
	}
	return nil
}

// claimDenials fails the announcements that the server did not permit.
func (r *round) claimDenials() {
	for i := range r.group[:r.sent] {
		n := &r.group[i]
		if subject := r.deadSubject(n); n.Dead && r.nats.denials.claim(subject) {
			r.errs[i] = denied(subject)
		}
		if subject := r.eventSubject(n); r.pending[i] && r.nats.denials.claim(subject) {
			r.conclude(i, denied(subject))
		}
	}
}

// denied returns the error for a subject to which the server does not permit to publish.
func denied(subject string) error {
	return fmt.Errorf("the NATS server does not permit publishing to %q", subject)
}

// gather waits for the acknowledgements of the events. When ctx ends or the connection is lost, it fails
// the events that are still open.
func (r *round) gather(ctx context.Context) {
	for r.open > 0 {
		select {
		case m := <-r.acks:
			r.takeAck(m)
		case <-ctx.Done():
			r.giveUp(context.Cause(ctx))
		}
	}
}

// takeAck handles one acknowledgement, or the error message in its place. Acknowledgements of earlier
// rounds have lower numbers and are ignored. A lower number gives one beyond the round, because the
// subtraction wraps. What has not the secret of its event is no acknowledgement.
func (r *round) takeAck(m *nats.Msg) {
	t := parseReplyToken(m.Subject, r.inbox)
	i := t.number - r.first
	if i >= uint64(len(r.group)) || !r.pending[i] || t != r.token(int(i)) {
		return
	}
	duplicate, err := judge(job.Target{Kind: job.TargetJetStream, Subject: r.eventSubject(&r.group[i])}, m)
	if duplicate {
		r.duplicates.Add(1)
	}
	r.conclude(int(i), err)
}

// giveUp fails all events that are still open.
func (r *round) giveUp(err error) {
	for i, open := range r.pending {
		if open {
			r.conclude(i, err)
		}
	}
}

// conclude ends the wait for an event. If the announcement has an earlier error, that of its dead
// letter, it keeps that one.
func (r *round) conclude(i int, err error) {
	r.pending[i] = false
	r.open--
	if r.errs[i] == nil {
		r.errs[i] = err
	}
}

// result returns the number of announcements at the front that are handed over, and the error of the next
// one. What follows the first error counts as not handed over, even if it arrived: the caller deletes
// announcements from the front only.
func (r *round) result() (int, error) {
	for i, err := range r.errs {
		if err != nil {
			return i, err
		}
	}
	return len(r.group), nil
}
