package dispatch

import "fmt"

// groupMax is how many messages are published before the confirmer hears of them. Smaller confirms
// a burst earlier; larger asks the client for less.
const groupMax = 256

// pruneMin is the shortest backlog that is searched for attempts that have ended meanwhile.
const pruneMin = 1024

// publishQuantum is how many messages of one tenant are published before it is another's turn.
const publishQuantum = 16

// runPublisher publishes what is lined up, those of a tenant in order, until stop is closed. While the
// connection is down it holds everything back, and the ledger ends what waits too long.
func (k *link) runPublisher(stop <-chan struct{}) {
	var spare []*attempt
	for {
		select {
		case <-k.outbox.wake:
		case <-k.nats.up:
			k.replies.failStale(k.nats.life())
		case <-stop:
			return
		}
		for more := true; more; {
			spare = k.lineUp(spare)
			more = k.publishNext()
			select {
			case <-k.nats.up:
				k.replies.failStale(k.nats.life())
			case <-stop:
				return
			default:
			}
		}
	}
}

// lineUp puts what has been launched into the backlog. It is done before each group, so that who comes
// while a burst goes through gets his turn.
func (k *link) lineUp(spare []*attempt) []*attempt {
	fresh := k.outbox.takeAll(spare)
	for _, a := range fresh {
		k.backlog.Push(a.delivery.Tenant, a)
	}
	return fresh
}

// publishNext publishes the next group of the backlog, and tells whether to go on.
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

// holdBack keeps the backlog for when the connection is back.
func (k *link) holdBack() {
	if !k.isDown {
		k.isDown = true
		k.logger.Warn("connection to NATS is down; launches to it wait")
	}
	if k.backlog.Len() >= k.pruneAt {
		k.ledger.dropTold(&k.backlog)
		k.pruneAt = 2*k.backlog.Len() + pruneMin
	}
}

// publishGroup publishes attempts in order and passes them to the confirmer. It returns how many it
// is done with, which is fewer than all if the connection is down.
func (k *link) publishGroup(attempts []*attempt) int {
	life := k.nats.life()
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
// attempt has to wait. A definition may be older than the rules for subjects, so they are checked here too.
func (k *link) publishOne(a *attempt, life uint64) bool {
	if err := k.rules.CheckSubject(a.delivery.Target.Subject); err != nil {
		k.ledger.finish(a, Refuse(fmt.Errorf("target.subject: %w", err)))
		return true
	}
	reply := k.replies.expect(a, life)
	if !k.ledger.begin(a, nil) {
		k.replies.forget(a)
		return true
	}
	err := k.nats.publish(k.message.of(a.delivery, reply, k.ledger.traceHeaders(a)))
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
		k.ledger.finish(a, errUnconfirmed) // and the confirmer fails those before it
	}
	return true
}
