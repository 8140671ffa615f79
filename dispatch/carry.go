package dispatch

import (
	"context"
	"errors"

	"github.com/carillon-io/carillon/job"
)

// errIncomplete says that a sender ended without a result, as one does that calls runtime.Goexit.
var errIncomplete = errors.New("the sender ended without a result")

// sender delivers one attempt and returns when the target has answered. It gives up when the context
// ends.
type sender interface {
	send(ctx context.Context, d *job.Delivery, t traceHeaders) error
}

// carry runs a sender for one attempt. Its place is free when the sender returns, which may be long after
// the deadline has told the outcome.
func (d *Dispatcher) carry(a *attempt, s sender) {
	ctx, cancel := context.WithTimeout(d.base, a.timeout())
	defer cancel()
	if !d.ledger.begin(a, cancel) {
		return // told before it began; afterTold has given its place back
	}
	err := errIncomplete
	defer func() {
		d.ledger.finish(a, err)
		d.places.release(a.lane, a.weight())
	}()
	err = s.send(d.ledger.within(ctx, a), a.delivery, d.ledger.traceHeaders(a))
	if err != nil && ctx.Err() == context.DeadlineExceeded {
		err = errNoAnswer(a)
	}
}
