package dispatch

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/carillon-io/carillon/job"
	"github.com/nats-io/nats.go"
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
		receive(t, begun)
	}
	var others []<-chan job.Outcome
	for _, target := range []job.Target{natsTarget("a"), requestTarget("svc"), handlerTarget("h"), healthy} {
		others = append(others, launchAll(d, target, perTarget)...)
	}
	for _, c := range others {
		if o := receive(t, c); o.Error != "" {
			t.Fatalf("a launch to another target has error %q", o.Error)
		}
	}
	for _, c := range stuck {
		if len(c) > 0 {
			t.Fatalf("a stuck launch has ended: %+v", <-c)
		}
	}
	if stats := d.Stats(); stats.Queued != len(stuck)-2*stuckTargets*8 || stats.Lanes < 2*stuckTargets {
		t.Errorf("stats are %+v", stats)
	}
}

// TestKindLimitIsSharedInTurns lets stuck hosts take all that their kind may have in flight. A healthy
// host then gets the first place that a timeout frees, before what the stuck ones still have queued.
func TestKindLimitIsSharedInTurns(t *testing.T) {
	begun := make(chan struct{}, 100)
	healthy := httpTarget(serve(t, func(http.ResponseWriter, *http.Request) {}))
	d := start(t, Options{AllowPrivateTargets: true, ConcurrencyPerTarget: 2, InFlightMax: 4, Handlers: map[string]Handler{"h": succeed}}, "")
	var stuck []<-chan job.Outcome
	for range 2 {
		target := stuckHost(t, begun)
		for n := range 20 {
			del := deliveryTo(target, n)
			del.Timeout = 100 * time.Millisecond
			stuck = append(stuck, launch(d, del))
		}
	}
	for range 4 {
		receive(t, begun)
	}
	outcome := launch(d, deliveryTo(healthy, 0))
	if o := receive(t, launch(d, deliveryTo(handlerTarget("h"), 0))); o.Error != "" {
		t.Errorf("another kind has error %q", o.Error)
	}
	if o := receive(t, outcome); o.Error != "" {
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

func TestQueueBounds(t *testing.T) {
	begun := make(chan struct{}, 10)
	blocked := func(ctx context.Context, _ *job.Delivery) error {
		begun <- struct{}{}
		<-ctx.Done()
		return nil
	}
	handlers := map[string]Handler{"a": blocked, "b": blocked}
	tests := []struct {
		name, want string
		options    Options
		targets    []string // after the one in flight; the last one is refused
	}{
		{"per target", "queue of target a is full", Options{QueuePerTarget: 2}, []string{"a", "a", "a"}},
		{"per kind", "queue of target b is full: too many launches of kind handler wait", Options{QueueMax: 2}, []string{"a", "a", "b"}},
	}
	for _, tc := range tests {
		t.Run(tc.name, func(t *testing.T) {
			tc.options.ConcurrencyPerTarget, tc.options.Handlers = 1, handlers
			d := start(t, tc.options, "")
			launch(d, deliveryTo(handlerTarget("a"), 0))
			receive(t, begun)
			var last <-chan job.Outcome
			for n, name := range tc.targets {
				last = launch(d, deliveryTo(handlerTarget(name), n+1))
			}
			if o := receive(t, last); o.Error != tc.want || !o.LaunchedAt.IsZero() {
				t.Errorf("outcome is %+v; want error %q", o, tc.want)
			}
		})
	}
}

func TestQueueBytesBound(t *testing.T) {
	l := newLedger(Options{QueueBytesMax: 1000}.withDefaults())
	accept := func(bytes int) error {
		del := deliveryTo(handlerTarget("a"), 0)
		del.Payload = make([]byte, bytes)
		return l.accept(&attempt{delivery: del})
	}
	if err := accept(900); err != nil {
		t.Fatal(err)
	}
	if err := accept(101); err == nil || !strings.Contains(err.Error(), "is full") {
		t.Errorf("error is %v", err)
	}
	if err := accept(100); err != nil {
		t.Errorf("what fits is refused: %v", err)
	}
}

func TestQueueWaitIsBounded(t *testing.T) {
	begun := make(chan struct{}, 1)
	d := start(t, Options{ConcurrencyPerTarget: 1, QueueWaitMax: 30 * time.Millisecond, Handlers: map[string]Handler{
		"h": func(ctx context.Context, _ *job.Delivery) error {
			begun <- struct{}{}
			<-ctx.Done()
			return nil
		},
	}}, "")
	launch(d, deliveryTo(handlerTarget("h"), 0))
	receive(t, begun)
	o := receive(t, launch(d, deliveryTo(handlerTarget("h"), 1)))
	if o.Error != "no turn within 30ms in the queue of target h" || !o.LaunchedAt.IsZero() {
		t.Errorf("outcome is %+v", o)
	}
	eventually(t, "the lane is empty again", func() bool { return d.Stats().Queued == 0 })
}

// TestCloseEndsWhatWaits waits for the attempt in flight, and not for those behind it.
func TestCloseEndsWhatWaits(t *testing.T) {
	begun, let := make(chan struct{}, 1), make(chan struct{})
	d := start(t, Options{ConcurrencyPerTarget: 1, Handlers: map[string]Handler{
		"h": func(context.Context, *job.Delivery) error {
			begun <- struct{}{}
			<-let
			return nil
		},
	}}, "")
	first := launch(d, deliveryTo(handlerTarget("h"), 0))
	receive(t, begun)
	second := launch(d, deliveryTo(handlerTarget("h"), 1))
	closed := make(chan error, 1)
	go func() { closed <- d.Close(context.Background()) }()
	if o := receive(t, second); o.Error != ErrStopped.Error() || !o.LaunchedAt.IsZero() {
		t.Errorf("the waiting one has outcome %+v", o)
	}
	if len(first) != 0 || len(closed) != 0 {
		t.Error("Close did not wait for the one in flight")
	}
	close(let)
	if o := receive(t, first); o.Error != "" {
		t.Errorf("the one in flight has error %q", o.Error)
	}
	if err := receive(t, closed); err != nil {
		t.Error(err)
	}
}
