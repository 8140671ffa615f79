package dispatch

import (
	"context"
	"errors"
	"fmt"

	"github.com/carillon-io/carillon/job"
)

// errIncomplete is the failure of an attempt whose sender ended without a result.
var errIncomplete = errors.New("it ended its goroutine without a result, as by runtime.Goexit")

// incomplete returns errIncomplete with what has ended so: only a handler can.
func incomplete(d *job.Delivery) error {
	return fmt.Errorf("%s %q: %w", d.Target.Kind, d.Target.Handler, errIncomplete)
}

// sender delivers one attempt and returns when the target has answered or the context has ended. A nil
// error means success.
type sender interface {
	send(ctx context.Context, d *job.Delivery, t traceHeaders) error
}

// carry runs a sender for one attempt on the calling goroutine. It releases the attempt's place when the
// sender returns, which may be long after the deadline has concluded the attempt.
//
// The place is released here and not when the attempt is concluded: a handler that ignores its context
// still occupies its goroutine, and the bound of the lane is also a bound of goroutines. The deferred call
// concludes the attempt even if the sender ends the goroutine.
func (d *Dispatcher) carry(a *attempt, s sender) {
	ctx, cancel := context.WithTimeout(d.base, a.timeout())
	defer cancel()
	if !d.ledger.begin(a, cancel) {
		return // concluded before it began; afterReport has released its place
	}
	err := errIncomplete
	defer func() {
		if err == errIncomplete { // a text for each attempt would cost as much as a launch
			err = incomplete(a.delivery)
		}
		d.ledger.finish(a, err)
		d.places.release(a.lane, a.weight())
	}()
	err = s.send(d.ledger.within(ctx, a), a.delivery, d.ledger.traceHeaders(a))
	if err != nil && ctx.Err() == context.DeadlineExceeded {
		err = errNoAnswer(a)
	}
}
