package dispatch

import (
	"cmp"
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"log/slog"
	"net/netip"

	"github.com/carillon-io/carillon/job"
)

// Handler is a target inside the program. It is called from many goroutines. The delivery is
// read-only. The context ends with the attempt's timeout, or when the run is cancelled; a handler that
// ignores that is reported as failed in time, but occupies its place in the lane until it returns. A
// panic is a failure. With [Refuse] and [RetryAfter] an error says what should become of the run.
type Handler func(ctx context.Context, d *job.Delivery) error

// Options sets up a [Dispatcher]. The zero value works, without NATS and without handlers.
type Options struct {
	// NATS is the connection for the kinds nats, request and jetstream, which fail without one.
	// The dispatcher owns it from New on, and Close closes it.
	NATS *NATS

	// Handlers are the targets of kind handler, by name. The map is copied; [Dispatcher.Handle] adds more.
	Handlers map[string]Handler

	// AllowPrivateTargets lets http targets reach addresses that are closed otherwise, such as loopback and
	// private ones; see [job.ClosedNetwork]. An address counts when it is dialled, after its name is resolved.
	AllowPrivateTargets bool

	// Own are the addresses where the process listens, as they are bound; an unspecified address stands for every
	// address of the machine. No http target reaches them, whatever the other options say.
	Own []netip.AddrPort

	// Prefix begins the subjects of the service: no run is sent there. "" checks none.
	Prefix string

	// InboxPrefixes begin the subjects that clients take replies on, besides those that NATS names itself; no run is
	// sent there.
	InboxPrefixes []string

	// TLS is used for https targets, and cloned. Nil is Go's default.
	TLS *tls.Config

	// ConcurrencyPerTarget is how many attempts of a tenant one request subject, HTTP host or handler has
	// at a time, unless the target says how many. 0 is 64. Larger is faster and harder on the target.
	ConcurrencyPerTarget int

	// StreamWindow is the same for the publishes to one jetstream subject that wait for their
	// acknowledgement. 0 is 4,096.
	StreamWindow int

	// InFlightMax bounds the attempts of one kind, over all its targets. 0 is 16,384. An HTTP attempt in
	// flight costs about 30 KB and a socket.
	InFlightMax int

	// PublishMax is the same for the kind nats, whose attempts are over when the server has the message.
	// 0 is 262,144.
	PublishMax int

	// Tracer follows the attempts. Nil: nobody does, and their targets get no header of it.
	Tracer Tracer

	// Logger hears of connections lost and of messages that the NATS server refused. Nil is silence.
	Logger *slog.Logger
}

func (o Options) withDefaults() Options {
	o.ConcurrencyPerTarget = cmp.Or(o.ConcurrencyPerTarget, 64)
	o.StreamWindow = cmp.Or(o.StreamWindow, 4096)
	o.InFlightMax = cmp.Or(o.InFlightMax, 16_384)
	o.PublishMax = cmp.Or(o.PublishMax, 1<<18)
	if o.Logger == nil {
		o.Logger = slog.New(slog.DiscardHandler)
	}
	return o
}

func (o Options) validate() error {
	var errs []error
	atLeast := func(field string, value, least int64) {
		if value < least {
			errs = append(errs, fmt.Errorf("dispatch: %s is %d; want at least %d", field, value, least))
		}
	}
	atLeast("ConcurrencyPerTarget", int64(o.ConcurrencyPerTarget), 1)
	atLeast("StreamWindow", int64(o.StreamWindow), 1)
	atLeast("InFlightMax", int64(o.InFlightMax), 1)
	atLeast("PublishMax", int64(o.PublishMax), 1)
	for name, handler := range o.Handlers {
		if handler == nil {
			errs = append(errs, fmt.Errorf("dispatch: handler %q is nil", name))
		}
	}
	return errors.Join(errs...)
}
