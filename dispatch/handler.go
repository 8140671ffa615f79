package dispatch

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"sync"

	"github.com/carillon-io/carillon/job"
)

// handlers sends to Go functions of this process.
type handlers struct {
	mu     sync.RWMutex
	byName map[string]Handler
}

func newHandlers(first map[string]Handler) *handlers {
	h := &handlers{byName: make(map[string]Handler, len(first))}
	maps.Copy(h.byName, first)
	return h
}

// Handle adds a target of kind handler to those of [Options]. It is an error if the name is taken, or if
// the handler is nil.
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

// Handlers returns the names of the handlers, in order.
func (d *Dispatcher) Handlers() []string {
	d.handlers.mu.RLock()
	defer d.handlers.mu.RUnlock()
	return slices.Sorted(maps.Keys(d.handlers.byName))
}

// Handles tells whether there is a handler of that name.
func (d *Dispatcher) Handles(name string) bool { return d.handlers.find(name) != nil }

func (h *handlers) find(name string) Handler {
	h.mu.RLock()
	defer h.mu.RUnlock()
	return h.byName[name]
}

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
	return handler(ctx, d)
}
