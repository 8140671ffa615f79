package dispatch

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"sync"

	"github.com/carillon-io/carillon/job"
)

// handlers is the sender for Go functions of this process. It is safe for concurrent use.
type handlers struct {
	mu     sync.RWMutex
	byName map[string]Handler
}

func newHandlers(first map[string]Handler) *handlers {
	h := &handlers{byName: make(map[string]Handler, len(first))}
	maps.Copy(h.byName, first)
	return h
}

// Handle adds a target of kind handler to those of [Options]. It returns an error if the name is in use
// or the handler is nil.
func (d *Dispatcher) Handle(name string, handler Handler) error {
	if handler == nil {
		return fmt.Errorf("dispatch: handler %q is nil", name)
	}
	h := d.handlers
	h.mu.Lock()
	defer h.mu.Unlock()
	if _, taken := h.byName[name]; taken {
		return fmt.Errorf("dispatch: there is a handler %q already", name)
	}
	h.byName[name] = handler
	return nil
}

// Handlers returns the names of all handlers, sorted.
func (d *Dispatcher) Handlers() []string {
	d.handlers.mu.RLock()
	defer d.handlers.mu.RUnlock()
	return slices.Sorted(maps.Keys(d.handlers.byName))
}

// Handles reports whether a handler of that name exists.
func (d *Dispatcher) Handles(name string) bool { return d.handlers.find(name) != nil }

// find returns the handler with this name, nil if there is none.
func (h *handlers) find(name string) Handler {
	h.mu.RLock()
	defer h.mu.RUnlock()
	return h.byName[name]
}

// send calls the handler. A panic of the handler is a failure of the attempt, not of the process. A name
// that is not registered does not refuse the run: the program may register it later, or another release of
// it may.
func (h *handlers) send(ctx context.Context, d *job.Delivery, _ traceHeaders) (err error) {
	name := d.Target.Handler
	handler := h.find(name)
	if handler == nil {
		return fmt.Errorf("no handler %q is registered here", name)
	}
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("handler %q panicked: %v", name, p)
		}
	}()
	return ownError(name, handler(ctx, d))
}

// ownError returns an error of a handler as a [Failure] with its text. The methods of that error are code of the program: they may
// panic, as those of a nil pointer do, and are called nowhere else.
func ownError(name string, err error) (own error) {
	if err == nil {
		return nil
	}
	defer func() {
		if p := recover(); p != nil {
			own = fmt.Errorf("handler %q returned an error of type %T whose methods panic: %v; is it a nil pointer?", name, err, p)
		}
	}()
	f := failureOf(err)
	f.Err = errors.New(err.Error())
	return &f
}
