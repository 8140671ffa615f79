package dispatch

import (
	"context"
	"errors"
	"fmt"

	"github.com/carillon-io/carillon/job"
	"github.com/nats-io/nats.go"
)

// round is a group of announcements on its way.
//
// Invariant: open is the number of announcements that are pending.
type round struct {
	*Announcer
	group   []Announcement
	life    uint64 // of the connection, when the round began
	first   uint64 // token of the first announcement; the others follow
	sent    int    // how many from the front are published
	pending []bool // the event is published and not acknowledged
	errs    []error
	open    int
}

func (a *Announcer) newRound(group []Announcement) *round {
	first := a.token + 1
	a.token += uint64(len(group))
	return &round{
		Announcer: a, group: group, life: a.nats.life(), first: first,
		pending: make([]bool, len(group)), errs: make([]error, len(group)),
	}
}

// publish hands the announcements to the client, until one fails. An error means that the connection is
// lost, and with it, perhaps, all of the round.
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
	m := r.eventMessage(n, r.reply(r.first+uint64(i)))
	if err := r.nats.publish(m); err != nil {
		return handoverError(err)
	}
	r.pending[i] = true
	r.open++
	return nil
}

// publishDead publishes a dead letter. One that is too large goes without its payload, since it would
// otherwise hold up all that follow it, for ever.
func (r *round) publishDead(n *Announcement) error {
	m := r.deadLetter(n)
	err := r.nats.publish(m)
	if errors.Is(err, nats.ErrMaxPayload) {
		err = r.nats.publish(withoutPayload(m))
	}
	return err
}

// handoverError says what an error of [NATS.publish] means.
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

// confirm asks the server whether it has what was published, and finds what it did not permit. An
// error means that it is not known of any.
func (r *round) confirm(ctx context.Context) error {
	if r.sent == 0 {
		return nil
	}
	if err := r.nats.conn.FlushWithContext(ctx); err != nil {
		cause := context.Cause(ctx)
		switch {
		case cause == nil:
			return errUnconfirmed
		case errors.Is(cause, errSilent): // nobody else's deadline: the server hangs
			r.nats.leave()
		}
		return cause
	}
	if r.nats.life() != r.life {
		return errUnconfirmed // or the PONG may belong to another connection than the messages
	}
	r.nats.denials.settle(r.nats.conn.LastError())
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
			r.settle(i, denied(subject))
		}
	}
}

func denied(subject string) error {
	return fmt.Errorf("the NATS server does not permit publishing to %q", subject)
}

// gather waits for the acknowledgements of the events, and fails those that it cannot wait for.
func (r *round) gather(ctx context.Context) {
	for r.open > 0 {
		select {
		case m := <-r.acks:
			r.take(m)
		case <-ctx.Done():
			r.giveUp(context.Cause(ctx))
		}
	}
}

// take takes in one acknowledgement, or what came in its place. Those of earlier rounds have lower
// tokens.
func (r *round) take(m *nats.Msg) {
	i := r.tokenOf(m) - r.first
	if i >= uint64(len(r.group)) || !r.pending[i] {
		return
	}
	duplicate, err := judge(job.Target{Kind: job.TargetJetStream, Subject: r.eventSubject(&r.group[i])}, m)
	if duplicate {
		r.duplicates.Add(1)
	}
	r.settle(int(i), err)
}

func (r *round) giveUp(err error) {
	for i, open := range r.pending {
		if open {
			r.settle(i, err)
		}
	}
}

// settle ends the wait for an event. An earlier error of the announcement, of its dead letter, stays.
func (r *round) settle(i int, err error) {
	r.pending[i] = false
	r.open--
	if r.errs[i] == nil {
		r.errs[i] = err
	}
}

// result returns how many announcements from the front are safe, and why the next one is not.
func (r *round) result() (int, error) {
	for i, err := range r.errs {
		if err != nil {
			return i, err
		}
	}
	return len(r.group), nil
}
