package dispatch

import (
	"slices"
	"testing"

	"github.com/carillon-io/carillon/testkit"
)

// TestHandle: a handler may come while the dispatcher runs, once by its name.
func TestHandle(t *testing.T) {
	d := start(t, Options{Handlers: map[string]Handler{"first": succeed}}, "")
	if o := testkit.Receive(t, launch(d, deliveryTo(handlerTarget("late"), 0))); o.Error != `no handler "late" is registered here` {
		t.Errorf("before: %q", o.Error)
	}
	if err := d.Handle("late", succeed); err != nil {
		t.Fatal(err)
	}
	if o := testkit.Receive(t, launch(d, deliveryTo(handlerTarget("late"), 1))); o.Error != "" {
		t.Errorf("after: %q", o.Error)
	}
	if d.Handle("first", succeed) == nil || d.Handle("late", succeed) == nil || d.Handle("nil", nil) == nil {
		t.Error("a name that is taken, or no handler, was let pass")
	}
	if got := d.Handlers(); !slices.Equal(got, []string{"first", "late"}) || !d.Handles("late") || d.Handles("nil") {
		t.Errorf("the handlers are %q", got)
	}
}
