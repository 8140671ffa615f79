package dispatch

import (
	"context"
	"errors"
	"io"
	"net/http"
	"testing"

	"github.com/carillon-io/carillon/job"
	"github.com/nats-io/nats.go"
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
		receive(t, begun)
		d.Cancel(del.Run)
		if o := receive(t, outcome); o.Error != ErrCancelled.Error() || o.LaunchedAt.IsZero() || o.Refused {
			t.Errorf("%s: outcome is %+v", target.Kind, o)
		}
		if err := receive(t, ended); !errors.Is(err, context.Canceled) {
			t.Errorf("%s: the target saw %v", target.Kind, err)
		}
	}
	eventually(t, "the lanes are gone", func() bool { return d.Stats().Lanes == 0 })
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
		receive(t, asked)
		d.Cancel(del.Run)
		if o := receive(t, outcome); o.Error != ErrCancelled.Error() || o.LaunchedAt.IsZero() {
			t.Errorf("%s: outcome is %+v", target.Kind, o)
		}
	}
	eventually(t, "nothing is left behind", func() bool {
		d.link.replies.mu.Lock()
		defer d.link.replies.mu.Unlock()
		return len(d.link.replies.waiting) == 0 && d.Stats().Lanes == 0
	})
}

// TestCancelledNeverLeaves cancels what waits: in a lane behind a handler, and for the connection.
func TestCancelledNeverLeaves(t *testing.T) {
	s := startNATS(t, nil)
	v := newValve(t, s.Addr().String())
	arrived := make(chan string, 10)
	subscribe(t, dial(t, s.ClientURL()), "a", func(m *nats.Msg) { arrived <- m.Header.Get(headerRunID) })
	begun, let := make(chan struct{}, 1), make(chan struct{})
	d := start(t, Options{ConcurrencyPerTarget: 1, Handlers: map[string]Handler{
		"h": func(_ context.Context, d *job.Delivery) error {
			begun <- struct{}{}
			<-let
			arrived <- d.Run.String()
			return nil
		},
	}}, v.url())
	v.set(false, true)
	v.cut()
	eventually(t, "the dispatcher knows", func() bool { return !d.Stats().NATS.Connected })
	targets := []job.Target{handlerTarget("h"), natsTarget("a")}
	for i, target := range targets {
		first := launch(d, deliveryTo(target, 10*i))
		if target.Kind == job.TargetHandler {
			receive(t, begun)
		}
		cancelled := deliveryTo(target, 10*i+1)
		second, third := launch(d, cancelled), launch(d, deliveryTo(target, 10*i+2))
		d.Cancel(cancelled.Run)
		if o := receive(t, second); o.Error != ErrCancelled.Error() || !o.LaunchedAt.IsZero() {
			t.Errorf("%s: outcome is %+v", target.Kind, o)
		}
		v.set(false, false)
		if i == 0 {
			close(let)
		}
		for _, c := range []<-chan job.Outcome{first, third} {
			if o := receive(t, c); o.Error != "" {
				t.Errorf("%s: another launch has error %q", target.Kind, o.Error)
			}
			if run := receive(t, arrived); run == cancelled.Run.String() {
				t.Errorf("%s: what was cancelled arrived", target.Kind)
			}
		}
		v.set(false, true) // away again, for the next target
		v.cut()
		eventually(t, "the dispatcher knows", func() bool { return !d.Stats().NATS.Connected })
	}
}

// TestCancelManyInOneQueue cancels most of a queue from its end: their places are free again, and
// nothing of them is kept until the front has gone.
func TestCancelManyInOneQueue(t *testing.T) {
	const queue = 100
	begun, let := make(chan struct{}, queue), make(chan struct{})
	d := start(t, Options{ConcurrencyPerTarget: 1, QueuePerTarget: queue, Handlers: map[string]Handler{
		"h": func(context.Context, *job.Delivery) error {
			begun <- struct{}{}
			<-let
			return nil
		},
	}}, "")
	held := launch(d, deliveryTo(handlerTarget("h"), 0))
	receive(t, begun)
	waiting := make([]<-chan job.Outcome, queue)
	for n := range waiting {
		waiting[n] = launch(d, deliveryTo(handlerTarget("h"), n+1))
	}
	for n := 10; n < queue; n++ {
		d.Cancel(deliveryTo(handlerTarget("h"), n+1).Run)
	}
	for _, c := range waiting[10:] {
		if o := receive(t, c); o.Error != ErrCancelled.Error() {
			t.Fatalf("outcome is %+v", o)
		}
	}
	for n := range queue - 10 {
		waiting[n+10] = launch(d, deliveryTo(handlerTarget("h"), n+1000))
	}
	close(let)
	for n, c := range append(waiting, held) {
		if o := receive(t, c); o.Error != "" {
			t.Errorf("launch %d has error %q", n, o.Error)
		}
	}
}
