package dispatch

import (
	"fmt"

	"github.com/carillon-io/carillon/job"
)

// groupMax is the number of messages that are published before they are passed to the confirmer. A
// smaller value confirms a burst earlier; a larger one costs fewer calls of the client.
const groupMax = 256

// pruneMin is the shortest backlog that is searched for concluded attempts. The search takes time in
// proportion to the backlog, so it is repeated only when the backlog has doubled.
const pruneMin = 1024

// publishQuantum is the number of messages of one tenant that are published in its turn. A smaller number
// lets another tenant in sooner; a larger one changes tenants less often.
const publishQuantum = 16

// runPublisher publishes the queued attempts, those of each tenant in order, until stop is closed. While
// the connection is down it keeps them, and the ledger ends those that wait too long.
func (k *link) runPublisher(stop <-chan struct{}) {
	var spare []*attempt
	for {
		select {
		case <-k.outbox.wake:
		case <-k.nats.up:
			k.isBack()
		case <-stop:
			return
		}
		for more := true; more; {
			spare = k.lineUp(spare)
			more = k.publishNext()
			select {
			case <-k.nats.up:
				k.isBack()
			case <-stop:
				return
			default:
			}
		}
	}
}

// isBack takes in that the connection was restored.
func (k *link) isBack() {
	k.unsettle()
	k.replies.failStale(k.nats.life())
}

// lineUp moves new launches into the backlog. It runs before each group, so that a tenant that launches
// while another tenant's burst is being published gets its turn.
func (k *link) lineUp(spare []*attempt) []*attempt {
	fresh := k.outbox.takeAll(spare)
	for _, a := range fresh {
		k.backlog.Push(a.delivery.Tenant, a)
	}
	return fresh
}

// publishNext publishes the next group of the backlog, and reports whether the backlog has more. What could
// not be published stays in next, before the backlog, so that a tenant's order is kept.
func (k *link) publishNext() (more bool) {
	for len(k.next) < groupMax && k.backlog.Len() > 0 {
		a, _ := k.backlog.Pop()
		k.next = append(k.next, a)
	}
	done := k.publishGroup(k.next)
	rest := copy(k.next, k.next[done:])
	clear(k.next[rest:])
	if k.next = k.next[:rest]; rest > 0 {
		k.holdBack()
		return false
	}
	if k.isDown {
		k.isDown = false
		k.logger.Info("connection to NATS is back; launches go on")
	}
	return k.backlog.Len() > 0
}

// holdBack keeps the backlog while the connection is down.
func (k *link) holdBack() {
	if !k.isDown {
		k.isDown = true
		k.logger.Warn("connection to NATS is down; launches to it wait")
	}
	if k.backlog.Len() >= k.pruneAt {
		k.ledger.dropConcluded(&k.backlog)
		k.pruneAt = 2*k.backlog.Len() + pruneMin
	}
}

// publishGroup publishes attempts in order and passes them to the confirmer. It returns the number of
// attempts that it has dealt with, which is less than all if the connection is down. It reads the life
// once, before the first message: if the connection is lost and restored within the group, the messages seem older than
// they are, and are reported as unconfirmed rather than as delivered.
//
// It looks for the connection before it reads the life. A client that connects keeps its callers waiting, so a message that is
// published without this look could leave on a connection that is newer than the life, although none was lost meanwhile.
func (k *link) publishGroup(attempts []*attempt) int {
	isUp := k.nats.conn.IsConnected()
	life := k.nats.life()
	done := 0
	for _, a := range attempts {
		if !k.publishOne(a, life, isUp) {
			break
		}
		done++
	}
	if len(k.group) > 0 {
		k.sent.push(k.group...)
		if k.awaited {
			signal(k.hurry) // after the push: the confirmer takes all that is there
			k.awaited = false
		}
		clear(k.group)
		k.group = k.group[:0]
	}
	return done
}

// publishOne passes the message of an attempt to the client. It returns false if the connection is down
// and the attempt has to wait. It checks the subject again, because a definition may be older than the rules, and the gate, because
// the attempt may have waited since it was launched.
//
// The order matters. The table of replies has the attempt before its message leaves, because the reply may
// arrive before the client returns. And the attempt begins before that, because its launch must not be
// later than its effect.
func (k *link) publishOne(a *attempt, life uint64, isUp bool) bool {
	if err := checkSubject(k.rules, a.delivery); err != nil {
		k.ledger.finish(a, err)
		return true
	}
	switch gate := a.delivery.Gate; {
	case gate.IsOver():
		k.ledger.finish(a, ErrStopped)
		return true
	case !isUp:
		return false
	case a.setback != nil && gate.IsShut(), (a.setback != nil || k.isDown) && !gate.IsTrusted():
		k.publishLater(a)
		return true
	}
	reply, number := k.replies.expect(a, life)
	if !k.ledger.begin(a, nil) {
		k.replies.forget(a)
		return true
	}
	err := k.nats.publish(k.message.of(a.delivery, reply, k.ledger.traceHeaders(a)))
	k.message.drop(a.delivery)
	switch {
	case err == nil:
		k.group = append(k.group, published{a, life, number})
		k.awaited = k.awaited || a.delivery.Awaited || a.timeout() < hurriedBelow
	case isDown(err):
		k.replies.forget(a)
		k.ledger.retreat(a, nil)
		return false
	case isRefusal(err):
		k.ledger.finish(a, fmt.Errorf("the NATS client refused the message: %w", err))
	default:
		k.ledger.finish(a, errUnconfirmed) // the confirmer fails the earlier ones of this life
	}
	return true
}

// checkSubject returns the failure of a delivery to a subject to which this tenant's runs, or no runs at all, are sent.
func checkSubject(rules job.Rules, d *job.Delivery) error {
	if err := rules.CheckSubject(d.Target.Subject); err != nil {
		return Refuse(fmt.Errorf("target.subject: %w", err))
	}
	if err := rules.TargetsOf(d.Tenant).CheckSubject(d.Target.Subject); err != nil {
		return bar(err)
	}
	return nil
}
