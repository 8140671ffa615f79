package api

import (
	"context"
	"sync"
	"time"

	"github.com/nats-io/nats.go"

	"github.com/carillon-io/carillon/apierr"
	"github.com/carillon-io/carillon/fair"
	"github.com/carillon-io/carillon/inbox"
)

// A body that does not fit into one message follows the request in parts: the leader, once it has admitted the
// request, answers with an inbox; the other node publishes the parts there, in order, and the last as a request, to
// which the leader replies. So a leader that refuses a request at its gate has received no body, and keeps nothing
// between two messages that its place in the gate does not bound.

// partsWait bounds how long the leader waits for all parts of a body; the time of the request may be less.
const partsWait = 5 * time.Second

// partsBodies is how many bodies are received in parts at a time: with the largest ones, 320 MiB. The gates alone would
// admit thousands.
const partsBodies = 64

// bodyPlaces share that number among tenants. Safe for concurrent use.
type bodyPlaces struct {
	mu     sync.Mutex
	shares fair.Shares[string]
}

func newBodyPlaces() *bodyPlaces { return &bodyPlaces{shares: fair.NewShares[string](partsBodies)} }

func (b *bodyPlaces) take(tenant string) error {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.shares.Take(tenant) {
		return nil
	}
	return apierr.Errorf(apierr.RateLimited, "", "%d bodies are on their way from other nodes, %d of them those of your tenant, which is as many as it may have now; ask again later",
		b.shares.Taken(), b.shares.Held(tenant))
}

func (b *bodyPlaces) free(tenant string) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.shares.Free(tenant)
}

// taken returns how many bodies are received now.
func (b *bodyPlaces) taken() int {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.shares.Taken()
}

// partsPending is how many parts may wait to be read. A body has at most that many, unless max_payload is tiny.
const partsPending = 256

// forwardBytesMax returns the largest body, or part of one, that fits into a message.
func (x *Executor) forwardBytesMax() int { return max(x.messageBytesMax()-forwardHeaderBytes, 1) }

// sendParts sends a body to where the leader expects it, and returns the leader's reply. A reply that names no inbox
// is that of a leader that refused the request before its body.
func (f *forwarder) sendParts(ctx context.Context, got *nats.Msg, body []byte, size int, until func() time.Time) (*nats.Msg, error) {
	to := got.Header.Get(partsHeader)
	if to == "" || !f.opts.Inboxes.Allows(to) {
		return got, nil
	}
	for len(body) > size {
		if err := f.nc.Publish(to, body[:size]); err != nil {
			return nil, err
		}
		body = body[size:]
	}
	last := nats.NewMsg(to)
	last.Data = body
	sayUntil(last.Header, until)
	return f.nc.RequestMsgWithContext(ctx, last)
}

// receiveParts asks the other node for the parts of a body, and returns it whole. The reply goes to the last part.
func (q *forwardedRequest) receiveParts(size int, within time.Duration) ([]byte, error) {
	if err := q.service.bodies.take(q.tenant); err != nil {
		return nil, err
	}
	defer q.service.bodies.free(q.tenant)
	nc, to, parts := q.service.nc, q.service.nc.NewInbox(), make(chan *inbox.Request, partsPending)
	sub, err := q.service.desk.Subscribe(to, func(r *inbox.Request) {
		select {
		case parts <- r:
		default: // the body is then incomplete
		}
	})
	if err != nil {
		return nil, err
	}
	defer func() { _ = sub.Unsubscribe() }() // a connection that is closed has no subscription either
	// The subscription must be known to NATS before the other node hears of it.
	if err := nc.FlushTimeout(partsWait); err != nil {
		return nil, errParts()
	}
	if err := q.head.Answer(q.verb.name, nats.Header{partsHeader: {to}}, nil); err != nil {
		return nil, err
	}
	over := time.NewTimer(min(partsWait, within))
	defer over.Stop()
	var body []byte // it grows with what arrives, and not with what was announced
	for len(body) < size {
		select {
		case part := <-parts:
			body, q.last = append(body, part.Data...), part
		case <-over.C:
			return nil, errParts()
		}
	}
	if len(body) > size || !q.last.Wants() {
		return nil, errParts()
	}
	return body, nil
}

// errParts returns the error for a body that did not arrive.
func errParts() error {
	return apierr.Errorf(apierr.Unavailable, "", "the body did not come whole from the other node; nothing has changed, ask again later")
}
