package dispatch

import (
	"context"
	"errors"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/carillon-io/carillon/job"
	"github.com/carillon-io/carillon/testkit"
)

// pathError is an error of a program whose nil pointer is no nil error.
type pathError struct{ path string }

func (e *pathError) Error() string { return e.path }

func succeed(context.Context, *job.Delivery) error { return nil }

func handlerTarget(name string) job.Target {
	return job.Target{Kind: job.TargetHandler, Handler: name}
}

func TestHandlerOutcomes(t *testing.T) {
	d := start(t, Options{Handlers: map[string]Handler{
		"ok":     succeed,
		"fails":  func(context.Context, *job.Delivery) error { return errors.New("disk full") },
		"mute":   func(context.Context, *job.Delivery) error { return errors.New("") },
		"panics": func(context.Context, *job.Delivery) error { panic("boom") },
		"nil":    func(context.Context, *job.Delivery) error { var e *pathError; return e },
		"exits":  func(context.Context, *job.Delivery) error { runtime.Goexit(); return nil },
		"talks":  func(context.Context, *job.Delivery) error { return errors.New(strings.Repeat("ü", 1000)) },
		"waits": func(ctx context.Context, _ *job.Delivery) error {
			<-ctx.Done()
			return ctx.Err()
		},
	}}, "")
	tests := []struct{ name, want string }{
		{"ok", ""},
		{"fails", "disk full"},
		{"mute", "failed without a reason"},
		{"panics", `handler "panics" panicked: boom`},
		{"nil", `handler "nil" returned an error of type *dispatch.pathError whose methods panic: runtime error: invalid memory address or nil pointer dereference; is it a nil pointer?`},
		{"exits", `handler "exits": it ended its goroutine without a result, as by runtime.Goexit`},
		{"talks", strings.Repeat("ü", (job.ErrorBytesMax-3)/2) + "…"},
		{"unknown", `no handler "unknown" is registered here`},
		{"waits", "no answer within 20ms"},
	}
	for _, tc := range tests {
		del := deliveryTo(handlerTarget(tc.name), 0)
		if tc.name == "waits" {
			del.Timeout = 20 * time.Millisecond
		}
		if o := testkit.Receive(t, launch(d, del)); o.Error != tc.want {
			t.Errorf("%s: error is %q; want %q", tc.name, o.Error, tc.want)
		}
	}
	testkit.Until(t, "the lanes are gone", func() bool { return d.Stats().Lanes == 0 })
}

// TestHandlerThatIgnoresItsContext fails in time, but keeps its place: the next launch waits for it.
func TestHandlerThatIgnoresItsContext(t *testing.T) {
	let := make(chan struct{})
	begun := make(chan struct{}, 2)
	d := start(t, Options{ConcurrencyPerTarget: 1, Handlers: map[string]Handler{
		"deaf": func(context.Context, *job.Delivery) error {
			begun <- struct{}{}
			<-let
			return nil
		},
	}}, "")
	del := deliveryTo(handlerTarget("deaf"), 0)
	del.Timeout = 20 * time.Millisecond
	if o := testkit.Receive(t, launch(d, del)); o.Error != "no answer within 20ms" {
		t.Errorf("error is %q", o.Error)
	}
	second := launch(d, deliveryTo(handlerTarget("deaf"), 1))
	testkit.Receive(t, begun)
	if n := lineOf(d).Waiting(); n != 1 || len(begun) != 0 {
		t.Errorf("a second call began beside the first: %d wait", n)
	}
	close(let)
	if o := testkit.Receive(t, second); o.Error != "" {
		t.Errorf("error is %q", o.Error)
	}
}
