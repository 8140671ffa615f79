package dispatch

import (
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/nats-io/nats.go"

	"github.com/carillon-io/carillon/job"
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

// TestMessagesWaitForThoseWhoConnectAgain: the same of a message that needs no answer. It reaches whoever subscribes, once, and what is
// replied to it counts for nothing.
func TestMessagesWaitForThoseWhoConnectAgain(t *testing.T) {
	s := startNATS(t, nil)
	d := start(t, Options{Settle: time.Hour}, s.ClientURL())
	outcome := launch(d, deliveryTo(natsTarget("news"), 0))
	testkit.Until(t, "the message has found nobody", func() bool {
		d.ledger.mu.Lock()
		defer d.ledger.mu.Unlock()
		return len(d.ledger.open) == 1 && d.ledger.open[0].setback != nil
	})
	nc := dial(t, s.ClientURL())
	got := make(chan *nats.Msg, 8)
	subscribe(t, nc, "news", func(m *nats.Msg) {
		got <- m
		_ = m.RespondMsg(&nats.Msg{Header: nats.Header{"Nats-Service-Error-Code": {"500"}, "Nats-Service-Error": {"no"}}})
	})
	if o := testkit.Receive(t, outcome); o.Error != "" || o.LaunchedAt.IsZero() {
		t.Errorf("the outcome is %+v", o)
	}
	testkit.Receive(t, got)
	if len(got) != 0 {
		t.Errorf("%d further messages came", len(got))
	}
}

// TestMessagesForNobody: a message that nobody receives is delivered when others had the time to connect, and before its own time is
// over. When all is settled it has no reply subject.
func TestMessagesForNobody(t *testing.T) {
	s := startNATS(t, nil)
	d := start(t, Options{Settle: 2 * sendAnewAfter}, s.ClientURL())
	launched := time.Now()
	if o := testkit.Receive(t, launch(d, deliveryTo(natsTarget("news"), 0))); o.Error != "" || o.LaunchedAt.Sub(launched) > sendAnewAfter || o.Duration < sendAnewAfter {
		t.Errorf("the outcome is %+v", o)
	}
	d.link.settle = time.Hour
	hurried := deliveryTo(natsTarget("news"), 1)
	hurried.Timeout = 3 * sendAnewAfter
	if o := testkit.Receive(t, launch(d, hurried)); o.Error != "" {
		t.Errorf("the outcome with a short timeout is %+v", o)
	}
	d.link.settle = time.Nanosecond
	nc := dial(t, s.ClientURL())
	got := make(chan *nats.Msg, 8)
	subscribe(t, nc, "news", func(m *nats.Msg) { got <- m })
	launch(d, deliveryTo(natsTarget("news"), 2))
	if m := testkit.Receive(t, got); m.Reply != "" {
		t.Errorf("the reply subject is %s", m.Reply)
	}
}

// TestWaitingRunsObeyTheirGate: a run that found nobody does not leave while its gate is shut, and none does when that is over.
func TestWaitingRunsObeyTheirGate(t *testing.T) {
	s := startNATS(t, nil)
	d := start(t, Options{Settle: time.Hour}, s.ClientURL())
	var gate job.Gate
	del, fresh := deliveryTo(natsTarget("news"), 0), deliveryTo(natsTarget("news"), 1)
	del.Gate, fresh.Gate = &gate, &gate
	outcome := launch(d, del)
	testkit.Until(t, "the message has found nobody", func() bool { return gate.Kept() == 1 })
	gate.Shut()
	nc := dial(t, s.ClientURL())
	got := make(chan *nats.Msg, 8)
	subscribe(t, nc, "news", func(m *nats.Msg) { got <- m })
	launch(d, fresh) // it has not waited
	if m := testkit.Receive(t, got); m.Header.Get(headerRunID) != fresh.Run.String() {
		t.Error("it passed a shut gate")
	}
	if gate.Kept() != 1 {
		t.Errorf("%d wait", gate.Kept())
	}
	gate.Open()
	if m := testkit.Receive(t, got); m.Header.Get(headerRunID) != del.Run.String() {
		t.Error("it did not pass an open gate")
	}
	if o := testkit.Receive(t, outcome); o.Error != "" || gate.Kept() != 0 {
		t.Errorf("%+v, and %d wait", o, gate.Kept())
	}
	gate.End()
	gate.Open()
	if o := testkit.Receive(t, launch(d, del)); o.Error != ErrStopped.Error() || !o.LaunchedAt.IsZero() {
		t.Errorf("after the end: %+v", o)
	}
}

// TestWaitingRunsNeedTrust: a run that has waited leaves only while its leader may launch.
func TestWaitingRunsNeedTrust(t *testing.T) {
	s := startNATS(t, nil)
	d := start(t, Options{Settle: time.Hour}, s.ClientURL())
	var mayLaunch atomic.Bool
	asked := make(chan bool, 1)
	gate := job.Gate{Trust: func() time.Duration {
		if mayLaunch.Load() {
			return time.Second
		}
		select {
		case asked <- true:
		default:
		}
		return 0
	}}
	del := deliveryTo(natsTarget("news"), 0)
	del.Gate = &gate
	launch(d, del)
	testkit.Receive(t, asked) // it has found nobody, and is to leave again
	nc := dial(t, s.ClientURL())
	got := make(chan *nats.Msg, 8)
	subscribe(t, nc, "news", func(m *nats.Msg) { got <- m })
	testkit.Receive(t, asked)
	testkit.Receive(t, asked)
	if len(got) != 0 {
		t.Error("it left without trust")
	}
	mayLaunch.Store(true)
	testkit.Receive(t, got)
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
