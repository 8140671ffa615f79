package dispatch

import "time"

// After a NATS server has ended, or a node, its clients take a while to connect to another one, or to this one again. Whoever
// serves a subject may be among them: a run that finds nobody there meanwhile waits, and is sent again. Nobody has received it, so
// it is no attempt. Later a subject that nobody serves fails an attempt at once.

// settleTime is the default of Options.Settle: the clients of NATS wait two seconds between two tries by default, and a little longer
// with TLS.
const settleTime = 5 * time.Second

// sendAnewAfter is how long a run that found nobody waits. A shorter time costs messages, a longer one punctuality.
const sendAnewAfter = 250 * time.Millisecond

// Unsettle says that clients of NATS may just have lost their connections, as when another node has died. Connections of the
// dispatcher that are restored say so themselves.
func (d *Dispatcher) Unsettle() {
	if d.link != nil {
		d.link.unsettle()
	}
	if d.tenants != nil {
		for _, l := range *d.tenants.byTenant.Load() {
			l.unsettle()
		}
	}
}

func (k *link) unsettle() { k.unsettled.Store(int64(time.Since(k.ledger.start))) }

// isSettling reports whether those who serve subjects may still be about to connect.
func (k *link) isSettling() bool {
	return time.Since(k.ledger.start)-time.Duration(k.unsettled.Load()) < k.settle
}

// sendAnew sends an attempt again in a while, for as long as it may wait for its beginning. reason says why nobody has received it.
func (k *link) sendAnew(a *attempt, reason error) {
	k.ledger.retreat(a, reason)
	time.AfterFunc(sendAnewAfter, func() { k.publish(a) })
}
