package dispatch

import (
	"context"
	"fmt"

	"github.com/carillon-io/carillon/job"
)

// handlers sends to Go functions of this process.
type handlers map[string]Handler

func (h handlers) send(ctx context.Context, d *job.Delivery) (err error) {
	name := d.Target.Handler
	handler, ok := h[name]
	if !ok {
		return fmt.Errorf("no handler %q is registered here", name)
	}
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("handler %q panicked: %v", name, p)
		}
	}()
	return handler(ctx, d)
}
