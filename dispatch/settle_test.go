package dispatch

import (
	"strings"
	"testing"
	"time"

	"github.com/nats-io/nats.go"

	"github.com/carillon-io/carillon/testkit"
)

// TestRunsWaitForThoseWhoConnectAgain: a request that finds nobody, soon after the start, is sent again and reaches the service that
// connects meanwhile. It is one attempt.
func TestRunsWaitForThoseWhoConnectAgain(t *testing.T) {
	s := startNATS(t, nil)
	d := start(t, Options{Settle: time.Hour}, s.ClientURL())
	outcome := launch(d, deliveryTo(requestTarget("work"), 0))
	testkit.Until(t, "the request has found nobody", func() bool {
		d.ledger.mu.Lock()
		defer d.ledger.mu.Unlock()
		return len(d.ledger.open) == 1 && d.ledger.open[0].setback != nil
	})
	nc := dial(t, s.ClientURL())
	asked := make(chan *nats.Msg, 8)
	subscribe(t, nc, "work", func(m *nats.Msg) {
		asked <- m
		_ = m.Respond(nil)
	})
	if o := testkit.Receive(t, outcome); o.Error != "" || o.LaunchedAt.IsZero() {
		t.Errorf("the outcome is %+v", o)
	}
	if len(asked) != 1 {
		t.Errorf("the service was asked %d times", len(asked))
	}
}

// TestRunsWaitNoLongerThanTheirTimeout: a run that finds nobody fails when its time to begin is over, and was never sent.
func TestRunsWaitNoLongerThanTheirTimeout(t *testing.T) {
	s := startNATS(t, nil)
	d := start(t, Options{Settle: time.Hour}, s.ClientURL())
	del := deliveryTo(requestTarget("nobody"), 0)
	del.Timeout = 400 * time.Millisecond
	if o := testkit.Receive(t, launch(d, del)); !strings.HasPrefix(o.Error, "no service listens") || !o.LaunchedAt.IsZero() {
		t.Errorf("the outcome is %+v", o)
	}
}

// TestSettling: a subject without a service fails an attempt at once when others had the time to connect, and waits again after a
// loss of the connection, or of another node.
func TestSettling(t *testing.T) {
	d := start(t, Options{Settle: time.Nanosecond}, startNATS(t, nil).ClientURL())
	if d.link.isSettling() {
		t.Error("the link settles for ever")
	}
	d.link.settle = time.Hour
	d.link.unsettled.Store(-int64(time.Hour))
	if d.link.isSettling() {
		t.Error("the link settles an hour later")
	}
	if d.Unsettle(); !d.link.isSettling() {
		t.Error("the link does not settle after the death of a node")
	}
	d.link.unsettled.Store(-int64(time.Hour))
	d.link.nats.leave()
	testkit.Until(t, "the link settles after a loss of its connection", d.link.isSettling)
}
