package dispatch

import (
	"context"
	"fmt"
	"net/http"
	"sync"
	"testing"
	"time"

	"github.com/nats-io/nats-server/v2/server"
	"github.com/nats-io/nats.go"

	"github.com/carillon-io/carillon/job"
	"github.com/carillon-io/carillon/testkit"
)

// spyTracer notes the attempts that it follows, by their number.
type spyTracer struct {
	state string

	mu    sync.Mutex
	begun map[uint32]int
	ended map[uint32]job.Outcome
}

type spyKey struct{}

func newSpy(state string) *spyTracer {
	return &spyTracer{state: state, begun: map[uint32]int{}, ended: map[uint32]job.Outcome{}}
}

func (s *spyTracer) Attempt(d *job.Delivery, launched time.Time) context.Context {
	s.mu.Lock()
	defer s.mu.Unlock()
	if launched.IsZero() {
		panic("an attempt that was never launched")
	}
	s.begun[d.Attempt]++
	return context.WithValue(context.Background(), spyKey{}, d.Attempt)
}

func (s *spyTracer) Headers(attempt context.Context) (parent, state string) {
	return fmt.Sprint("parent-", attempt.Value(spyKey{})), s.state
}

func (s *spyTracer) Within(ctx, attempt context.Context) context.Context {
	return context.WithValue(ctx, spyKey{}, attempt.Value(spyKey{}))
}

func (s *spyTracer) Ended(attempt context.Context, d *job.Delivery, o job.Outcome) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if _, twice := s.ended[d.Attempt]; twice || attempt.Value(spyKey{}) != d.Attempt {
		panic("ended twice, or another attempt")
	}
	s.ended[d.Attempt] = o
}

// outcome returns how an attempt ended in the eyes of the tracer.
func (s *spyTracer) outcome(t *testing.T, attempt uint32) job.Outcome {
	t.Helper()
	s.mu.Lock()
	defer s.mu.Unlock()
	o, ok := s.ended[attempt]
	if !ok || s.begun[attempt] != 1 {
		t.Errorf("attempt %d: begun %d times, ended %t", attempt, s.begun[attempt], ok)
	}
	return o
}

// withOwnTrace is a delivery whose owner has set the headers of a trace.
func withOwnTrace(target job.Target, attempt uint32) *job.Delivery {
	d := deliveryTo(target, int(attempt))
	d.Attempt = attempt
	d.Headers = []job.Pair{{Key: "Traceparent", Value: "own"}, {Key: "X-Own", Value: "1"}, {Key: "tracestate", Value: "own"}}
	return d
}

// TestTraceReachesTargets: with a tracer each target gets the headers of its attempt and not those of the
// job, whatever their case; without one it gets the job's.
func TestTraceReachesTargets(t *testing.T) {
	s := startNATS(t, nil)
	nc := dial(t, s.ClientURL())
	messages := make(chan nats.Header, 16)
	subscribe(t, nc, "out", func(m *nats.Msg) { messages <- m.Header })
	subscribe(t, nc, "ask", func(m *nats.Msg) { messages <- m.Header; _ = m.Respond(nil) })
	requests := make(chan http.Header, 16)
	url := serve(t, func(_ http.ResponseWriter, r *http.Request) { requests <- r.Header.Clone() })

	check := func(what string, h map[string][]string, want map[string]string) {
		t.Helper()
		for name, value := range want {
			got := ""
			if len(h[name]) > 0 {
				got = h[name][0]
			}
			if got != value {
				t.Errorf("%s: %s is %q, want %q", what, name, got, value)
			}
		}
	}
	traced := start(t, Options{AllowPrivateTargets: true, Tracer: newSpy("s=1")}, s.ClientURL())
	stateless := start(t, Options{AllowPrivateTargets: true, Tracer: newSpy("")}, s.ClientURL())
	plain := start(t, Options{AllowPrivateTargets: true}, s.ClientURL())
	subject := job.Target{Kind: job.TargetNATS, Subject: "out"}
	for i, target := range []job.Target{subject, requestTarget("ask"), subject} {
		n := uint32(i + 1)
		testkit.Receive(t, launch(traced, withOwnTrace(target, n)))
		check("traced", testkit.Receive(t, messages), map[string]string{"traceparent": fmt.Sprint("parent-", n), "Traceparent": "", "tracestate": "s=1", "X-Own": "1"})
		testkit.Receive(t, launch(stateless, withOwnTrace(target, n)))
		check("stateless", testkit.Receive(t, messages), map[string]string{"traceparent": fmt.Sprint("parent-", n), "Traceparent": "", "tracestate": "", "X-Own": "1"})
		testkit.Receive(t, launch(plain, withOwnTrace(target, n)))
		check("plain", testkit.Receive(t, messages), map[string]string{"traceparent": "", "Traceparent": "own", "tracestate": "own", "X-Own": "1"})
	}
	testkit.Receive(t, launch(traced, withOwnTrace(httpTarget(url), 9)))
	check("traced", testkit.Receive(t, requests), map[string]string{"Traceparent": "parent-9", "Tracestate": "s=1"})
	testkit.Receive(t, launch(stateless, withOwnTrace(httpTarget(url), 9)))
	check("stateless", testkit.Receive(t, requests), map[string]string{"Traceparent": "parent-9", "Tracestate": ""})
	testkit.Receive(t, launch(plain, withOwnTrace(httpTarget(url), 9)))
	check("plain", testkit.Receive(t, requests), map[string]string{"Traceparent": "own", "Tracestate": "own"})
}

// TestEveryAttemptIsTraced, once, however it ends: answered, failed, refused at once, cancelled under way.
func TestEveryAttemptIsTraced(t *testing.T) {
	spy := newSpy("")
	entered, leave := make(chan any, 4), make(chan struct{})
	d := start(t, Options{Tracer: spy, Handlers: map[string]Handler{
		"waits": func(ctx context.Context, _ *job.Delivery) error {
			entered <- ctx.Value(spyKey{})
			<-leave
			return nil
		},
	}}, "")
	deliver := func(target job.Target, attempt uint32) *job.Delivery {
		del := deliveryTo(target, int(attempt))
		del.Attempt = attempt
		return del
	}
	first := launch(d, deliver(handlerTarget("waits"), 1))
	if within := testkit.Receive(t, entered); within != uint32(1) {
		t.Errorf("the handler is within %v", within)
	}
	cancelled := deliver(handlerTarget("waits"), 2)
	second := launch(d, cancelled)
	testkit.Receive(t, entered)
	d.Cancel(cancelled.Run)
	testkit.Receive(t, second)
	close(leave)
	testkit.Receive(t, first)
	testkit.Receive(t, launch(d, deliver(handlerTarget("unknown"), 3)))
	testkit.Receive(t, launch(d, deliver(job.Target{Kind: job.TargetNATS, Subject: "out"}, 4))) // there is no NATS
	if err := d.Close(t.Context()); err != nil {
		t.Fatal(err)
	}
	testkit.Receive(t, launch(d, deliver(handlerTarget("waits"), 5)))
	for attempt, want := range map[uint32]string{
		1: "", 2: ErrCancelled.Error(), 3: `no handler "unknown" is registered here`, 4: errNoNATS.Error(), 5: ErrStopped.Error(),
	} {
		if o := spy.outcome(t, attempt); o.Error != want || o.LaunchedAt.IsZero() != (attempt >= 4) {
			t.Errorf("attempt %d: %+v; want the error %q", attempt, o, want)
		}
	}
}

// TestTraceOverReconnect: an attempt that waits for the connection is one span, and leaves with its headers.
func TestTraceOverReconnect(t *testing.T) {
	s := startNATS(t, func(o *server.Options) { o.JetStream = false })
	valve := newValve(t, s.Addr().String())
	spy := newSpy("")
	d := start(t, Options{Tracer: spy}, valve.url())
	got := make(chan nats.Header, 1)
	subscribe(t, dial(t, s.ClientURL()), "out", func(m *nats.Msg) { got <- m.Header })
	valve.set(false, true)
	valve.cut()
	testkit.Until(t, "the connection is down", func() bool { return !d.Stats().NATS.Connected })
	del := deliveryTo(job.Target{Kind: job.TargetNATS, Subject: "out"}, 1)
	outcome := launch(d, del)
	valve.set(false, false)
	if o := testkit.Receive(t, outcome); o.Error != "" {
		t.Fatal(o.Error)
	}
	if h := testkit.Receive(t, got); h["traceparent"][0] != "parent-1" {
		t.Errorf("left with %v", h)
	}
	spy.outcome(t, 1)
}
