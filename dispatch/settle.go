package dispatch

import (
	"time"

	"github.com/carillon-io/carillon/job"
)

// When a NATS server or a node ends, its clients connect again some seconds later. Services, workers and subscribers are among them.
// NATS has no receiver for their subjects meanwhile, so the dispatcher keeps such a run and sends it again. All of this is one attempt,
// because the run has reached no receiver. Later an attempt to a subject without a receiver fails at once.
//
// A run of kind nats waits in the same way: its message has a reply subject then, to which NATS says that there is no receiver. Later
// the message has no reply subject, and is delivered when NATS has it.

// settleTime is the default of Options.Settle: the clients of NATS wait two seconds between two tries by default, and a little longer
// with TLS.
const settleTime = 5 * time.Second

// sendAnewAfter is how long a run without a receiver waits. A shorter time costs messages, a longer one punctuality.
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

// isSettling reports whether receivers may still be about to connect. While the link itself is not connected, they are.
func (k *link) isSettling() bool {
	if n := k.connected.Load(); k.settle > 0 && (n == nil || !n.connected.Load()) {
		return true
	}
	return time.Since(k.ledger.start)-time.Duration(k.unsettled.Load()) < k.settle
}

// sendAnew sends an attempt again in a while, for as long as it may wait for its beginning. reason says why nobody has received it. One
// of the kind nats whose time is nearly over is left as it is: it is delivered, because NATS has it.
func (k *link) sendAnew(a *attempt, reason error) {
	if a.kind() == job.TargetNATS && k.ledger.patienceOf(a) < 2*sendAnewAfter {
		k.ledger.leaveForNobody(a)
		return
	}
	k.replies.forget(a)
	k.ledger.retreat(a, reason)
	k.publishLater(a)
}

// publishLater queues an attempt for the publisher in a while.
func (k *link) publishLater(a *attempt) {
	time.AfterFunc(sendAnewAfter, func() { k.publish(a) })
}
