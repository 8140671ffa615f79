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

// Handler is a target inside the program. It is called concurrently, from many goroutines, and must not
// change the delivery. The context ends at the attempt's timeout, or when the run is cancelled. The
// attempt of a handler that ignores this fails at its timeout all the same, but the handler occupies its
// place in the lane until it returns. A panic is a failure. An error made by [Refuse] or [RetryAfter]
// says whether and when to try again.
type Handler func(ctx context.Context, d *job.Delivery) error

// Options configures a [Dispatcher]. The zero value is valid: no NATS and no handlers.
type Options struct {
	// NATS is the connection for the kinds nats, request and jetstream; if it is nil, their attempts fail.
	// The dispatcher owns it from New on, and Close closes it.
	NATS *NATS

	// TenantNATS makes the connection for the kinds nats, request and jetstream of a tenant, where tenants have accounts
	// of their own. It is called from goroutines of the dispatcher, which owns and closes the connection. nil: NATS
	// serves all tenants.
	TenantNATS func(tenant string) (*NATS, error)

	// TenantShares reports whether a tenant is served by NATS all the same. It is asked at the first launch of a tenant
	// and again after [Dispatcher.ReviewTenants], with a lock held, so it must not block. nil: none is.
	TenantShares func(tenant string) bool

	// TenantLinksMax bounds the connections of TenantNATS; 0 means 1,024. Idle ones are closed after a minute or two,
	// and sooner if there are too many.
	TenantLinksMax int

	// Handlers are the targets of kind handler, by name. The map is copied; [Dispatcher.Handle] adds more.
	Handlers map[string]Handler

	// AllowPrivateTargets permits http targets at addresses that are otherwise closed, such as loopback and
	// private ones; see [job.ClosedNetwork]. The check is of the address that is dialled, after the name is
	// resolved.
	AllowPrivateTargets bool

	// Targets returns the targets that a tenant's jobs may have, at this moment; AllowPrivateTargets opens addresses
	// besides. It is called at each attempt, from many goroutines. nil: no tenant is restricted.
	Targets func(tenant string) job.Targets

	// Secret returns the value of a secret, or an error that names the secret. It is called at each attempt that
	// has one, from many goroutines. The value is not changed. nil: attempts with secrets fail.
	Secret func(ref job.SecretRef) ([]byte, error)

	// Own lists the addresses on which the process listens, as they are bound; an unspecified address stands for
	// every address of the machine. They are never reached as http targets, whatever the other options say.
	Own []netip.AddrPort

	// Prefix is the prefix of the subjects of the service itself: no run is sent to them. "" means no check.
	Prefix string

	// InboxPrefixes are the prefixes of further subjects on which clients receive replies, besides the default of
	// NATS; no run is sent to them.
	InboxPrefixes []string

	// TLS is the configuration for https targets. It is cloned. Nil means Go's default.
	TLS *tls.Config

	// ConcurrencyPerTarget is the number of concurrent attempts of a tenant at one request subject, HTTP host
	// or handler, unless the target has its own limit. 0 means 64. A larger value delivers faster and puts
	// more load on the target.
	ConcurrencyPerTarget int

	// StreamWindow is the number of publishes of a tenant to one jetstream subject that may wait for their
	// acknowledgement. 0 means 4,096.
	StreamWindow int

	// InFlightMax bounds the concurrent attempts of one kind, over all its targets. 0 means 16,384. An HTTP
	// attempt in flight costs about 30 KB and a socket.
	InFlightMax int

	// HTTPMax is the same for the kind http, and bounds its connections as well, with those that no attempt uses. 0 means
	// InFlightMax.
	HTTPMax int

	// PublishMax is the same for the kind nats, whose attempts end as soon as the server has the message.
	// 0 means 262,144.
	PublishMax int

	// InFlight returns how many attempts of a tenant may be under way at all its targets together, from 1; 0 means no
	// bound. Further ones wait. It is called at each attempt under a lock, and must not block. Nil: no tenant has such a
	// bound.
	InFlight func(tenant string) int

	// Tracer traces the attempts. Nil means no tracing, and no trace headers for the targets.
	Tracer Tracer

	// Logger receives lost connections and messages that the NATS server refused. Nil discards them.
	Logger *slog.Logger

	// ConfirmPause is the time between two PINGs while no run waits for the ends of the attempts that they confirm, and no
	// attempt has its timeout soon: they leave a little before its multiples by the wall clock. Each PING costs two writes
	// and wakes four threads, as much as some launches. A run counts as ended so much later. 0 means 5 ms.
	ConfirmPause time.Duration

	// Settle is how long a run waits for a receiver of its subject, or for a stream that takes it, after the dispatcher has
	// started, its connection was restored or [Dispatcher.Unsettle] was called. 0 means 5 s, which lets clients of NATS connect
	// again; less than 0 means not at all. Later such an attempt fails at once.
	Settle time.Duration
}

// rules returns the rules that targets must still fulfil when they are launched.
func (o Options) rules() job.Rules {
	return job.Rules{Prefix: o.Prefix, InboxPrefixes: o.InboxPrefixes, AllowPrivateTargets: o.AllowPrivateTargets, Targets: o.Targets}
}

func (o Options) withDefaults() Options {
	o.ConcurrencyPerTarget = cmp.Or(o.ConcurrencyPerTarget, 64)
	o.StreamWindow = cmp.Or(o.StreamWindow, 4096)
	o.InFlightMax = cmp.Or(o.InFlightMax, 16_384)
	o.HTTPMax = cmp.Or(o.HTTPMax, o.InFlightMax)
	o.PublishMax = cmp.Or(o.PublishMax, 1<<18)
	o.TenantLinksMax = cmp.Or(o.TenantLinksMax, tenantLinksMax)
	o.ConfirmPause = cmp.Or(o.ConfirmPause, confirmPause)
	o.Settle = cmp.Or(o.Settle, settleTime)
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
	atLeast("HTTPMax", int64(o.HTTPMax), 1)
	atLeast("PublishMax", int64(o.PublishMax), 1)
	atLeast("TenantLinksMax", int64(o.TenantLinksMax), 1)
	if o.TenantNATS != nil && o.NATS == nil {
		errs = append(errs, errors.New("dispatch: TenantNATS needs NATS, which serves those tenants that share it"))
	}
	for name, handler := range o.Handlers {
		if handler == nil {
			errs = append(errs, fmt.Errorf("dispatch: handler %q is nil", name))
		}
	}
	return errors.Join(errs...)
}
