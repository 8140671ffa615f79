package dispatch

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"testing"
	"time"

	"github.com/nats-io/nats.go"

	"github.com/carillon-io/carillon/job"
	"github.com/carillon-io/carillon/testkit"
)

// stuckHost is a web server that reads requests and never answers. begun gets one token for each.
func stuckHost(t *testing.T, begun chan<- struct{}) job.Target {
	return httpTarget(serve(t, func(_ http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body) // or the server does not see the client go
		begun <- struct{}{}
		<-r.Context().Done()
	}))
}

// TestStuckTargetsDelayNoOther fills four web servers and four services that never answer, and their
// queues. Launches to every other target then come through, while not one of the stuck ones has ended.
func TestStuckTargetsDelayNoOther(t *testing.T) {
	const stuckTargets, perTarget = 4, 200
	s := startNATS(t, nil)
	nc := dial(t, s.ClientURL())
	begun := make(chan struct{}, 2*stuckTargets*perTarget)
	subscribe(t, nc, "stuck.*", func(*nats.Msg) { begun <- struct{}{} })
	subscribe(t, nc, "svc", func(m *nats.Msg) { _ = m.Respond(nil) })
	healthy := httpTarget(serve(t, func(http.ResponseWriter, *http.Request) {}))
	d := start(t, Options{AllowPrivateTargets: true, ConcurrencyPerTarget: 8, Handlers: map[string]Handler{"h": succeed}}, s.ClientURL())

	var stuck []<-chan job.Outcome
	for n := range stuckTargets {
		stuck = append(stuck, launchAll(d, stuckHost(t, begun), perTarget)...)
		stuck = append(stuck, launchAll(d, requestTarget(fmt.Sprintf("stuck.%d", n)), perTarget)...)
	}
	for range 2 * stuckTargets * 8 {
		testkit.Receive(t, begun)
	}
	var others []<-chan job.Outcome
	for _, target := range []job.Target{natsTarget("a"), requestTarget("svc"), handlerTarget("h"), healthy} {
		others = append(others, launchAll(d, target, perTarget)...)
	}
	for _, c := range others {
		if o := testkit.Receive(t, c); o.Error != "" {
			t.Fatalf("a launch to another target has error %q", o.Error)
		}
	}
	for _, c := range stuck {
		if len(c) > 0 {
			t.Fatalf("a stuck launch has ended: %+v", <-c)
		}
	}
	if stats, n := d.Stats(), lineOf(d).Waiting(); n != len(stuck)-2*stuckTargets*8 || stats.Lanes < 2*stuckTargets {
		t.Errorf("%d wait, stats are %+v", n, stats)
	}
}

// TestKindLimitIsSharedInTurns lets stuck hosts take all that their kind may have in flight. A healthy
// host then gets the first place that a timeout frees, before what the stuck ones still have queued.
func TestKindLimitIsSharedInTurns(t *testing.T) {
	begun := make(chan struct{}, 100)
	healthy := httpTarget(serve(t, func(http.ResponseWriter, *http.Request) {}))
	d := start(t, Options{AllowPrivateTargets: true, ConcurrencyPerTarget: 2, InFlightMax: 4, Handlers: map[string]Handler{"h": succeed}}, "")
	var stuck []<-chan job.Outcome
	for i := range 2 {
		target := stuckHost(t, begun)
		for n := range 20 {
			del := deliveryTo(target, n)
			del.Tenant, del.Timeout = fmt.Sprint("stuck", i), 100*time.Millisecond
			stuck = append(stuck, launch(d, del))
		}
	}
	for range 4 {
		testkit.Receive(t, begun)
	}
	outcome := launch(d, deliveryTo(healthy, 0))
	if o := testkit.Receive(t, launch(d, deliveryTo(handlerTarget("h"), 0))); o.Error != "" {
		t.Errorf("another kind has error %q", o.Error)
	}
	if o := testkit.Receive(t, outcome); o.Error != "" {
		t.Errorf("the healthy host has error %q", o.Error)
	}
	ended := 0
	for _, c := range stuck {
		ended += len(c)
	}
	if ended > 8 {
		t.Errorf("%d stuck launches ended before the healthy one had its turn; want two rounds at most", ended)
	}
}

// TestTenantLeavesAShare: a tenant whose targets hang takes three quarters of a kind, and another finds a
// place at once.
func TestTenantLeavesAShare(t *testing.T) {
	begun := make(chan struct{}, 20)
	hangs := func(ctx context.Context, _ *job.Delivery) error {
		begun <- struct{}{}
		<-ctx.Done()
		return ctx.Err()
	}
	d := start(t, Options{InFlightMax: 8, Handlers: map[string]Handler{"a": hangs, "b": hangs, "h": succeed}}, "")
	stuck := append(launchAll(d, handlerTarget("a"), 5), launchAll(d, handlerTarget("b"), 5)...)
	for range 6 {
		testkit.Receive(t, begun)
	}
	other := deliveryTo(handlerTarget("h"), 0)
	other.Tenant = "other"
	if o := testkit.Receive(t, launch(d, other)); o.Error != "" {
		t.Errorf("the other tenant has error %q", o.Error)
	}
	if n := lineOf(d).Waiting(); n != 4 || len(begun) != 0 {
		t.Errorf("%d wait, and %d began beyond the share", n, len(begun))
	}
	lineOf(d).Drop()
	for n := range stuck {
		d.Cancel(deliveryTo(handlerTarget("a"), n).Run)
	}
}
