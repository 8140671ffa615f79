package dispatch

import (
	"cmp"
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"log/slog"
	"net/netip"
	"time"

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

	// ConcurrencyPerTarget bounds the attempts in flight to one request subject, HTTP host or
	// handler. 0 is 64. Larger is faster and harder on the target.
	ConcurrencyPerTarget int

	// StreamWindow bounds the publishes to one jetstream subject that wait for their
	// acknowledgement. 0 is 4,096.
	StreamWindow int

	// InFlightMax bounds the attempts in flight of one kind, over all its targets; nats needs no such
	// bound. 0 is 16,384. An HTTP attempt in flight costs about 30 KB and a socket.
	InFlightMax int

	// QueuePerTarget bounds the attempts that wait for their turn at one target. 0 is 16,384. Beyond
	// it an attempt fails at once.
	QueuePerTarget int

	// QueueMax bounds the attempts of one kind that wait, over all its targets; for nats, those
	// that wait for the connection. 0 is 1,048,576, about 250 MB with small payloads.
	QueueMax int

	// QueueBytesMax bounds the payload bytes of the attempts that QueueMax counts. 0 is 256 MiB.
	QueueBytesMax int64

	// QueueWaitMax is how long an attempt may wait for its turn at its target; then it fails. 0 is 5
	// minutes. The timeout of an attempt begins after this wait.
	QueueWaitMax time.Duration

	// Tracer follows the attempts. Nil: nobody does, and their targets get no header of it.
	Tracer Tracer

	// Logger hears of connections lost and of messages that the NATS server refused. Nil is silence.
	Logger *slog.Logger
}

func (o Options) withDefaults() Options {
	o.ConcurrencyPerTarget = cmp.Or(o.ConcurrencyPerTarget, 64)
	o.StreamWindow = cmp.Or(o.StreamWindow, 4096)
	o.InFlightMax = cmp.Or(o.InFlightMax, 16_384)
	o.QueuePerTarget = cmp.Or(o.QueuePerTarget, 16_384)
	o.QueueMax = cmp.Or(o.QueueMax, 1<<20)
	o.QueueBytesMax = cmp.Or(o.QueueBytesMax, 256<<20)
	o.QueueWaitMax = cmp.Or(o.QueueWaitMax, 5*time.Minute)
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
	atLeast("QueuePerTarget", int64(o.QueuePerTarget), 1)
	atLeast("QueueMax", int64(o.QueueMax), 1)
	atLeast("QueueBytesMax", o.QueueBytesMax, job.PayloadBytesCeiling)
	if o.QueueWaitMax < 0 {
		errs = append(errs, fmt.Errorf("dispatch: QueueWaitMax is %s; want no negative time", o.QueueWaitMax))
	}
	for name, handler := range o.Handlers {
		if handler == nil {
			errs = append(errs, fmt.Errorf("dispatch: handler %q is nil", name))
		}
	}
	return errors.Join(errs...)
}
