package dispatch

import (
	"context"
	"errors"
	"io"
	"net/http"
	"testing"

	"github.com/nats-io/nats.go"

	"github.com/carillon-io/carillon/job"
	"github.com/carillon-io/carillon/testkit"
)

// TestCancelEndsContexts cancels what is under way: the request is broken off and the handler's context ends.
func TestCancelEndsContexts(t *testing.T) {
	begun, ended := make(chan struct{}, 2), make(chan error, 2)
	url := serve(t, func(_ http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body) // or the server does not see the client go
		begun <- struct{}{}
		<-r.Context().Done()
		ended <- r.Context().Err()
	})
	d := start(t, Options{AllowPrivateTargets: true, Handlers: map[string]Handler{
		"h": func(ctx context.Context, _ *job.Delivery) error {
			begun <- struct{}{}
			<-ctx.Done()
			ended <- ctx.Err()
			return ctx.Err()
		},
	}}, "")
	for n, target := range []job.Target{httpTarget(url), handlerTarget("h")} {
		del := deliveryTo(target, n)
		outcome := launch(d, del)
		testkit.Receive(t, begun)
		d.Cancel(del.Run)
		if o := testkit.Receive(t, outcome); o.Error != ErrCancelled.Error() || o.LaunchedAt.IsZero() || o.Refused {
			t.Errorf("%s: outcome is %+v", target.Kind, o)
		}
		if err := testkit.Receive(t, ended); !errors.Is(err, context.Canceled) {
			t.Errorf("%s: the target saw %v", target.Kind, err)
		}
	}
	testkit.Until(t, "the lanes are gone", func() bool { return d.Stats().Lanes == 0 })
}

// TestCancelGivesUpReplies has services that never answer. What is cancelled leaves nothing behind.
func TestCancelGivesUpReplies(t *testing.T) {
	s := startNATS(t, nil)
	asked := make(chan struct{}, 2)
	nc := dial(t, s.ClientURL())
	subscribe(t, nc, "mute.>", func(*nats.Msg) { asked <- struct{}{} })
	d := start(t, Options{}, s.ClientURL())
	for n, target := range []job.Target{requestTarget("mute.service"), streamTarget("mute.stream")} {
		del := deliveryTo(target, n)
		outcome := launch(d, del)
		testkit.Receive(t, asked)
		d.Cancel(del.Run)
		if o := testkit.Receive(t, outcome); o.Error != ErrCancelled.Error() || o.LaunchedAt.IsZero() {
			t.Errorf("%s: outcome is %+v", target.Kind, o)
		}
	}
	leavesNothing(t, d)
}

// TestCancelledNeverLeaves cancels what waits for the connection.
func TestCancelledNeverLeaves(t *testing.T) {
	s := startNATS(t, nil)
	v := newValve(t, s.Addr().String())
	arrived := make(chan string, 10)
	subscribe(t, dial(t, s.ClientURL()), "a", func(m *nats.Msg) { arrived <- m.Header.Get(headerRunID) })
	d := start(t, Options{}, v.url())
	v.set(false, true)
	v.cut()
	testkit.Until(t, "the dispatcher knows", func() bool { return !d.Stats().NATS.Connected })
	first, cancelled := launch(d, deliveryTo(natsTarget("a"), 0)), deliveryTo(natsTarget("a"), 1)
	second, third := launch(d, cancelled), launch(d, deliveryTo(natsTarget("a"), 2))
	d.Cancel(cancelled.Run)
	if o := testkit.Receive(t, second); o.Error != ErrCancelled.Error() || !o.LaunchedAt.IsZero() {
		t.Errorf("outcome is %+v", o)
	}
	v.set(false, false)
	for _, c := range []<-chan job.Outcome{first, third} {
		if o := testkit.Receive(t, c); o.Error != "" {
			t.Errorf("another launch has error %q", o.Error)
		}
		if run := testkit.Receive(t, arrived); run == cancelled.Run.String() {
			t.Error("what was cancelled arrived")
		}
	}
}
